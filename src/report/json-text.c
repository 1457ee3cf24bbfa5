/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/json-text.h"
#include <math.h>

static void append_node (GString *out, JsonNode *node, guint depth);

static void
append_string (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  g_string_append_c (out, '"');
  for (const char *p = valid; *p != '\0'; p++)
    {
      const guchar c = (guchar) *p;

      if (c == '"' || c == '\\')
        g_string_append_printf (out, "\\%c", c);
      else if (c == '\n')
        g_string_append (out, "\\n");
      else if (c < 0x20 || c == 0x7f)
        g_string_append_printf (out, "\\u%04x", c);
      else
        g_string_append_c (out, (char) c);
    }
  g_string_append_c (out, '"');
}

static void
append_value (GString *out, JsonNode *node)
{
  const GType type = json_node_get_value_type (node);

  if (type == G_TYPE_STRING)
    append_string (out, json_node_get_string (node));
  else if (type == G_TYPE_BOOLEAN)
    g_string_append (out, json_node_get_boolean (node) ? "true" : "false");
  else if (type == G_TYPE_INT64)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, json_node_get_int (node));
  else if (isfinite (json_node_get_double (node)))
    {
      char number[G_ASCII_DTOSTR_BUF_SIZE];
      g_string_append (out, g_ascii_formatd (number, sizeof number, "%.9g", json_node_get_double (node)));
    }
  else
    g_string_append (out, "null");
}

static void
append_break (GString *out, guint depth)
{
  g_string_append_printf (out, "\n%*s", (int) (2 * depth), "");
}

static void
append_object (GString *out, JsonObject *object, guint depth)
{
  g_autoptr (GList) names = json_object_get_members (object);

  g_string_append_c (out, '{');
  for (GList *name = names; name != NULL; name = name->next)
    {
      append_break (out, depth + 1);
      append_string (out, name->data);
      g_string_append (out, ": ");
      append_node (out, json_object_get_member (object, name->data), depth + 1);
      if (name->next != NULL)
        g_string_append_c (out, ',');
    }
  if (names != NULL)
    append_break (out, depth);
  g_string_append_c (out, '}');
}

static void
append_array (GString *out, JsonArray *array, guint depth)
{
  const guint n = json_array_get_length (array);

  g_string_append_c (out, '[');
  for (guint i = 0; i < n; i++)
    {
      append_break (out, depth + 1);
      append_node (out, json_array_get_element (array, i), depth + 1);
      if (i + 1 < n)
        g_string_append_c (out, ',');
    }
  if (n > 0)
    append_break (out, depth);
  g_string_append_c (out, ']');
}

static void
append_node (GString *out, JsonNode *node, guint depth)
{
  switch (json_node_get_node_type (node))
    {
    case JSON_NODE_OBJECT:
      append_object (out, json_node_get_object (node), depth);
      break;
    case JSON_NODE_ARRAY:
      append_array (out, json_node_get_array (node), depth);
      break;
    case JSON_NODE_VALUE:
      append_value (out, node);
      break;
    default:
      g_string_append (out, "null");
    }
}

void
json_text_append (GString *out, JsonNode *root)
{
  append_node (out, root, 0);
  g_string_append_c (out, '\n');
}

void
json_text_append_part (GString *out, JsonNode *node, guint depth)
{
  append_node (out, node, depth);
}

void
json_put_number (JsonBuilder *builder, const char *name, double value)
{
  json_builder_set_member_name (builder, name);
  if (isfinite (value))
    json_builder_add_double_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

void
json_put_count (JsonBuilder *builder, const char *name, guint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, (gint64) MIN (value, (guint64) G_MAXINT64));
}

void
json_put_text (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  if (value != NULL)
    json_builder_add_string_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

void
json_put_bool (JsonBuilder *builder, const char *name, gboolean value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}
