/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compute/llm.h"

#include <glib/gstdio.h>
#include <string.h>

/* models/llm.csv of our own: which rows count, with one source left out or none.
 * Values by hand. */
static int
stack_of (const char *name)
{
  for (int i = 0; llm_stacks[i] != NULL; i++)
    if (g_str_equal (llm_stacks[i], name))
      return i;
  g_assert_not_reached ();
}

static const char rows[] =
  "efficiency,any,any,0.91,0.7,1.1,assumed,,wide\n"
  "efficiency,any,Hopper,0.87,,,derived,gamma,a generation\n"
  "efficiency,torchtitan-2024,Hopper,0.71,0.6,0.8,derived,alpha,one\n"
  "efficiency,torchtitan-2024,Hopper,0.74,0.65,0.83,derived,beta,two\n"
  "efficiency,torchtitan-2024,Hopper,0.5,,,assumed,,behind those with sources\n"
  "efficiency,llm-foundry-2023,Hopper,0.79,,,derived,alpha,the same years\n"
  "efficiency,megatron-core-2025,Hopper,0.99,,,derived,gamma,later\n"
  "efficiency,megatron-core-2025,any,1.03,,,assumed,,later\n";

typedef struct { const char *stack, *generation, *without; double value; } Case;
static const Case cases[] = {
  { "torchtitan-2024", "Hopper", NULL, 0.725 },            /* the middle of 0.71 and 0.74 */
  { "torchtitan-2024", "Hopper", "alpha", 0.74 },
  { "torchtitan-2024", "Hopper", "delta", 0.725 },
  { "llm-foundry-2023", "Hopper", NULL, 0.79 },
  { "llm-foundry-2023", "Hopper", "alpha", 0.74 },         /* of its years: beta's alone is left */
  { "nanotron-2024", "Hopper", NULL, 0.74 },               /* the middle of 0.71, 0.74 and 0.79 */
  { "megatron-core-2025", "Hopper", "gamma", 1.03 },       /* no other of its years: the stack's own for any */
  { "auto", "Hopper", NULL, 0.87 },
  { "auto", "Hopper", "gamma", 0.91 },
  { "auto", "Volta", NULL, 0.91 },
};

static char *
write_table (const char *folder)
{
  g_autoptr (GString) text = g_string_new ("name,stack,generation,value,low,high,kind,sources,origin\n");
  char *path = g_build_filename (folder, "llm.csv", NULL);

  g_string_append (text, rows);
  for (guint i = LLM_EFFICIENCY + 1; i < N_LLM; i++)
    g_string_append_printf (text, "%s,any,any,1,,,assumed,,filler\n", llm_constant_names[i]);
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  return path;
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  LlmModel model = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (llm_constants (&model, stack_of (c->stack), c->generation, c->without, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (model.value[LLM_EFFICIENCY], c->value, 1e-12);
}

/* Several rows: the ends are the widest. */
static void
test_ends (void)
{
  LlmModel model = { 0 };

  g_assert_true (llm_constants (&model, stack_of ("torchtitan-2024"), "Hopper", NULL, NULL));
  g_assert_cmpfloat_with_epsilon (model.low[LLM_EFFICIENCY], 0.6, 1e-12);
  g_assert_cmpfloat_with_epsilon (model.high[LLM_EFFICIENCY], 0.83, 1e-12);
}

static void
test_text (void)
{
  g_autofree char *text = llm_without_text (stack_of ("torchtitan-2024"), "Hopper", "alpha");
  g_autofree char *none = llm_without_text (stack_of ("torchtitan-2024"), "Hopper", "delta");

  g_assert_cmpstr (text, ==, "efficiency 0.74");
  g_assert_null (none);
}

/* A broken row is said, not skipped. */
static void
test_broken (gconstpointer data)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  LlmModel model = { 0 };
  char *at;

  g_assert_true (g_file_get_contents (data, &text, NULL, NULL));
  at = strstr (text, "wide");
  g_assert_nonnull (at);
  at[-1] = 'x';   /* a comma less: the row is too short */
  g_assert_true (g_file_set_contents (data, text, -1, NULL));
  g_assert_false (llm_constants (&model, 0, "Volta", NULL, &error));
  g_assert_nonnull (error);
}

/* The first row's value, out of range or not there. */
static void
test_range (gconstpointer data)
{
  static const struct { const char *value, *says; } wrong[] = {
    { "-0.9", "column 'value': -0.9 is out of range; give 0.001 to 4" },
    { "9e9", "column 'value': 9e9 is out of range; give 0.001 to 4" },
    { "", "column 'value': is empty; a number is needed" },
  };
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (data, &text, NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GString) changed = g_string_new (text);
      g_autofree char *row = g_strdup_printf ("any,any,%s,", wrong[i].value);
      g_autoptr (GError) error = NULL;
      LlmModel model = { 0 };

      g_assert_cmpuint (g_string_replace (changed, "any,any,0.91,", row, 1), ==, 1);
      g_assert_true (g_file_set_contents (data, changed->str, -1, NULL));
      g_assert_false (llm_constants (&model, 0, "Volta", NULL, &error));
      g_assert_nonnull (strstr (error->message, "llm.csv:2: "));
      g_assert_true (g_str_has_suffix (error->message, wrong[i].says));
    }
  g_assert_true (g_file_set_contents (data, text, -1, NULL));
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("lockstep-llm-XXXXXX", NULL), *path = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_nonnull (folder);
  g_setenv ("LOCKSTEP_MODELS", folder, TRUE);
  path = write_table (folder);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strdup_printf ("/llm-table/%s-%s-%s", cases[i].stack, cases[i].generation, cases[i].without != NULL ? cases[i].without : "all");

      g_test_add_data_func (name, &cases[i], test_case);
    }
  g_test_add_func ("/llm-table/ends", test_ends);
  g_test_add_func ("/llm-table/text", test_text);
  g_test_add_data_func ("/llm-table/range", path, test_range);
  g_test_add_data_func ("/llm-table/short-row", path, test_broken);
  status = g_test_run ();
  g_unlink (path);
  g_rmdir (folder);
  return status;
}
