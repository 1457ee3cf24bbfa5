/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/nccl-tests-parts.h"

#include <json-glib/json-glib.h>
#include <math.h>

#include "base/names.h"

/* The file that nccl-tests writes with -J. */

static JsonNode *
member (JsonObject *object, const char *name, JsonNodeType type)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, name) : NULL;

  return node != NULL && JSON_NODE_TYPE (node) == type ? node : NULL;
}

static JsonObject *
object_at (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name, JSON_NODE_OBJECT);

  return node != NULL ? json_node_get_object (node) : NULL;
}

static JsonArray *
array_at (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name, JSON_NODE_ARRAY);

  return node != NULL ? json_node_get_array (node) : NULL;
}

static double
number_at (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name, JSON_NODE_VALUE);
  const GType type = node != NULL ? json_node_get_value_type (node) : G_TYPE_INVALID;

  if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)
    return json_node_get_double (node);
  return NAN;
}

static const char *
text_at (JsonObject *object, const char *name)
{
  JsonNode *node = member (object, name, JSON_NODE_VALUE);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node) : "";
}

static JsonObject *
element (JsonArray *array, guint i)
{
  JsonNode *node = json_array_get_element (array, i);

  return JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

typedef struct { guint ranks, hosts; const char *gpu; } Devices;

static gboolean
read_devices (const Reading *reading, JsonArray *list, Devices *devices, GError **error)
{
  g_autoptr (GHashTable) hosts = g_hash_table_new (g_str_hash, g_str_equal);

  *devices = (Devices) { .ranks = list != NULL ? json_array_get_length (list) : 0 };
  for (guint i = 0; i < devices->ranks; i++)
    {
      const char *gpu = text_at (element (list, i), "device_info");

      g_hash_table_add (hosts, (gpointer) text_at (element (list, i), "hostname"));
      if (i > 0 && !g_str_equal (gpu, devices->gpu))
        {
          g_autofree char *one = names_quote (devices->gpu), *other = names_quote (gpu);

          return reading_wrong (reading, 0, error, "ranks on different GPUs, %s and %s; give runs of one kind", one, other);
        }
      devices->gpu = gpu;
    }
  devices->hosts = g_hash_table_size (hosts);
  if (devices->ranks < 2)
    return reading_wrong (reading, 0, error, "config.devices lists %u ranks; a collective has at least 2", devices->ranks);
  if (devices->ranks % devices->hosts != 0)
    return reading_wrong (reading, 0, error, "%u ranks are not even over %u hosts; give a run with as many GPUs on each",
                          devices->ranks, devices->hosts);
  return TRUE;
}

static void
add_pass (Reading *reading, const Pass *form, JsonObject *from, double size)
{
  Pass pass = *form;

  if (from == NULL)
    return;
  pass.index = reading->passes->len;
  pass.size = size;
  pass.time = number_at (from, "time");
  pass.algbw = number_at (from, "alg_bw");
  pass.busbw = number_at (from, "bus_bw");
  pass.wrong = number_at (from, "nwrong");
  g_array_append_val (reading->passes, pass);
}

static gboolean
read_root (Reading *reading, JsonObject *root, GError **error)
{
  JsonArray *results = array_at (root, "results"), *args = array_at (root, "args");
  JsonNode *program = args != NULL && json_array_get_length (args) > 0 ? json_array_get_element (args, 0) : NULL;
  const double code = number_at (root, "nccl_version");
  char version[32] = "";
  Pass form = { 0 };
  Devices devices;

  if (results == NULL)
    return reading_wrong (reading, 0, error, "no list 'results' in it; give what nccl-tests writes with -J");
  if (json_array_get_length (results) > NCCL_TESTS_MAX_ROWS)
    return reading_wrong (reading, 0, error, "more than %u rows", NCCL_TESTS_MAX_ROWS);
  if (!(program != NULL && JSON_NODE_HOLDS_VALUE (program) && json_node_get_value_type (program) == G_TYPE_STRING
        && nccl_tests_op (json_node_get_string (program), &form.op, &form.op_name))
      && !nccl_tests_op (reading->name, &form.op, &form.op_name))
    return reading_wrong (reading, 0, error, "args does not name the collective (all_reduce_perf, ...)");
  if (!read_devices (reading, array_at (object_at (root, "config"), "devices"), &devices, error))
    return FALSE;
  if (code > 1e4 && code < 1e6)
    g_snprintf (version, sizeof version, "%d.%d.%d", (int) code / 10000, (int) code / 100 % 100, (int) code % 100);
  form.nodes = devices.hosts;
  form.per_node = devices.ranks / devices.hosts;
  form.system = reading_system (reading, devices.gpu, "", "", version, NAN);
  for (guint i = 0; i < json_array_get_length (results); i++)
    {
      JsonObject *row = element (results, i);

      add_pass (reading, &form, object_at (row, "out_of_place"), number_at (row, "size"));
      add_pass (reading, &form, object_at (row, "in_place"), number_at (row, "size"));
    }
  if (reading->passes->len == 0)
    return reading_wrong (reading, 0, error, "no rows in it");
  return TRUE;
}

/* json-glib walks down by recursion: refuse what no log has before it does. */
static gboolean
is_shallow (const char *text, gsize length)
{
  gboolean quoted = FALSE;
  guint depth = 0;

  for (gsize i = 0; i < length; i++)
    if (quoted)
      {
        if (text[i] == '\\')
          i++;
        else if (text[i] == '"')
          quoted = FALSE;
      }
    else if (text[i] == '"')
      quoted = TRUE;
    else if (text[i] == '{' || text[i] == '[')
      {
        if (++depth > 64)
          return FALSE;
      }
    else if ((text[i] == '}' || text[i] == ']') && depth > 0)
      depth--;
  return TRUE;
}

gboolean
read_json (Reading *reading, const char *text, gsize length, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) wrong = NULL;
  JsonNode *root;

  if (!is_shallow (text, length))
    return reading_wrong (reading, 0, error, "JSON nested deeper than 64 levels; give what nccl-tests writes with -J");
  if (!g_utf8_validate (text, (gssize) length, NULL))
    return reading_wrong (reading, 0, error, "not UTF-8 text; give what nccl-tests writes with -J");
  if (!json_parser_load_from_data (parser, text, (gssize) length, &wrong))
    {
      g_autofree char *why = g_strdelimit (g_strdup (wrong->message), "\n\r", ' ');

      return reading_wrong (reading, 0, error, "no JSON (%s): cut short, or not from nccl-tests -J", why);
    }
  root = json_parser_get_root (parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    return reading_wrong (reading, 0, error, "no JSON object; give what nccl-tests writes with -J");
  return read_root (reading, json_node_get_object (root), error);
}
