/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/packing.h"
#include "workload/workload.h"
#include <math.h>

/* How much of a sequence's attention is left where documents share it.  Expected
 * values: hand arithmetic, and documents drawn and laid end to end here. */

static const double tiny = 1e-12;

/* Documents of one length in sequences of 12 tokens. */
typedef struct { const char *name; guint64 length; double mean, variance, third; } Equal;
static const Equal equals[] = {
  { "whole", 12, 1, 0, 0 },
  { "quarters", 3, 0.25, 0, 0 },                 /* 4 x (1/4)^2 */
  { "two-sequences", 24, 1, 0, 0 },              /* each half fills one */
  /* starts 0 and 4 tokens into one of 8: 8 + 4 and 4 + 8 of 12: (64 + 16)/144 */
  { "two-thirds", 8, 80.0 / 144, 0, 0 },
  /* starts 0, 6, 12 into one of 18: 12; 12; 6 + 6: 1, 1, 1/2; mean 5/6; squares 1/36, 1/36, 1/9: 1/18; cubes (1 + 1 - 8)/216/3 */
  { "one-and-a-half", 18, 5.0 / 6, 1.0 / 18, -6.0 / 216 / 3 },
};

static Packing
settle (int kind, guint64 length, double cv, guint64 sequence)
{
  const PackingSpec spec = { kind, length, cv };
  g_autoptr (GError) error = NULL;
  Packing packing;

  g_assert_true (packing_settle (&packing, &spec, sequence, &error));
  g_assert_no_error (error);
  return packing;
}

static void
test_equal (gconstpointer data)
{
  const Equal *want = data;
  const Packing packing = settle (PACKING_DOCUMENT_MASK, want->length, 0, 12);

  g_assert_cmpfloat_with_epsilon (packing.squares.mean, want->mean, tiny);
  g_assert_cmpfloat_with_epsilon (packing.squares.variance, want->variance, tiny);
  g_assert_cmpfloat_with_epsilon (packing.squares.third, want->third, tiny);
  g_assert_cmpfloat_with_epsilon (packing.tokens.mean, 1, tiny);
}

/* Of many in a sequence: each token sits in a document of E L^2/E L = L (1 + cv^2), of
 * which the ends of the sequence cut off E L^3/(3 E L) in all: (L (1 + cv^2))^3 = E L^3
 * of a lognormal over L. */
static void
test_many (void)
{
  static const double cvs[] = { 0.1, 0.5, 1, 1.5 };

  for (gsize i = 0; i < G_N_ELEMENTS (cvs); i++)
    {
      const Documents documents = { 1e-3, cvs[i] };
      const double w = 1 + cvs[i] * cvs[i];

      g_assert_cmpfloat_with_epsilon (documents_squares (&documents, 1).mean / (1e-3 * w), 1, 0.02);
      g_assert_cmpfloat_with_epsilon (documents_squares (&documents, 1).mean, 1e-3 * w - 1e-6 * w * w * w / 3, 1e-8);
    }
}

/* Documents far longer than the sequence fill it, but where one ends. */
static void
test_long (void)
{
  const Documents documents = { 1e4, 0.5 };
  const Moments got = documents_squares (&documents, 1);

  g_assert_cmpfloat_with_epsilon (got.mean, 1, 1e-3);
  g_assert_cmpfloat (got.mean, <, 1);
}

/* splitmix64 (Steele and others 2014) and Box-Muller: not the program's generator. */
static double
drawn (guint64 *state)
{
  guint64 z = *state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return ((double) ((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double
drawn_length (guint64 *state, const Documents *documents)
{
  const double s2 = log1p (documents->cv * documents->cv), u = drawn (state), v = drawn (state);

  return documents->mean * exp (sqrt (s2) * sqrt (-2 * log (u)) * cos (2 * G_PI * v) - s2 / 2);
}

/* Documents end to end, cut into sequences of 1; those next to each other share a document. */
static void
lay (const Documents *documents, guint n, double *squares)
{
  guint64 state = 7;
  double left = drawn_length (&state, documents);

  for (guint i = 0; i < n; i++)
    {
      double room = 1;

      for (squares[i] = 0; left < room; left = drawn_length (&state, documents))
        {
          squares[i] += left * left;
          room -= left;
        }
      squares[i] += room * room;
      left -= room;
    }
}

static Moments
moments (const double *values, guint n)
{
  Moments out = { 0, 0, 0 };

  for (guint i = 0; i < n; i++)
    out.mean += values[i] / n;
  for (guint i = 0; i < n; i++)
    {
      out.variance += (values[i] - out.mean) * (values[i] - out.mean) / n;
      out.third += pow (values[i] - out.mean, 3) / n;
    }
  return out;
}

static const Documents streams[] = { { 0.5, 1 }, { 0.25, 0.5 }, { 0.125, 1 }, { 0.125, 2 }, { 1.5, 0.3 }, { 0.03, 1 }, { 0.004, 0.7 } };

/* 200,000 sequences: of variances a few per cent, of third moments more. */
static void
test_drawn (gconstpointer data)
{
  const Documents *documents = data;
  const guint n = 200000;
  g_autofree double *squares = g_new (double, n);

  lay (documents, n, squares);
  const Moments want = moments (squares, n), got = documents_squares (documents, 1);

  g_assert_cmpfloat_with_epsilon (got.mean / want.mean, 1, 0.01);
  g_assert_cmpfloat_with_epsilon (sqrt (got.variance / want.variance), 1, 0.02);
  g_assert_cmpfloat_with_epsilon (cbrt (got.third / want.third), 1, 0.05);
}

/* One document a sequence, cut off at its end. */
static void
test_power (void)
{
  static const Documents rows[] = { { 0.5, 0.5 }, { 0.3, 1 }, { 2, 1 } };
  const guint n = 200000;
  g_autofree double *values = g_new (double, n);

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    for (int power = 1; power <= 2; power++)
      {
        guint64 state = 11;

        for (guint k = 0; k < n; k++)
          values[k] = pow (fmin (1, drawn_length (&state, &rows[i])), power);
        const Moments want = moments (values, n), got = documents_power (&rows[i], power);

        g_assert_cmpfloat_with_epsilon (got.mean / want.mean, 1, 0.01);
        g_assert_cmpfloat_with_epsilon (sqrt (got.variance / want.variance), 1, 0.01);
        g_assert_cmpfloat_with_epsilon (cbrt (got.third) - cbrt (want.third), 0, 0.01);
      }
  /* 1/4 of the tokens, 1/16 of their pairs */
  const Packing packing = settle (PACKING_UNPADDED, 128, 0, 512);

  g_assert_cmpfloat_with_epsilon (packing.tokens.mean, 0.25, tiny);
  g_assert_cmpfloat_with_epsilon (packing.squares.mean, 0.0625, tiny);
}

/* Padding is computed: work stays, what is known is how much of it is wasted. */
static void
test_whole (void)
{
  const Packing padded = settle (PACKING_PADDED, 128, 0, 512), concatenated = settle (PACKING_CONCATENATED, 100, 2, 512);

  g_assert_cmpfloat_with_epsilon (padded.tokens.mean, 0.25, tiny);
  g_assert_cmpfloat_with_epsilon (padded.squares.mean, 1, tiny);
  g_assert_cmpfloat_with_epsilon (concatenated.squares.mean, 1, tiny);
  g_assert_true (settle (PACKING_DOCUMENT_MASK, 100, NAN, 512).cv_assumed);
}

static void
test_refused (void)
{
  static const struct { int kind; guint64 length; double cv; const char *name, *error; } rows[] = {
    { PACKING_NONE, 100, NAN, "llama2_7b", "[workload] document-length: has no effect with packing = none; concatenated gives the same step, document-mask, padded and unpadded read it" },
    { PACKING_NONE, 0, 1, "llama2_7b", "[workload] document-length-cv: has no effect with packing = none; concatenated gives the same step, document-mask, padded and unpadded read it" },
    { PACKING_UNPADDED, 0, NAN, "llama2_7b", "[workload] document-length: missing; this packing needs the mean length of a document in tokens, as 1024" },
    { PACKING_CONCATENATED, 0, 1, "llama2_7b", "[workload] document-length: missing beside document-length-cv; give the mean length in tokens, as 1024" },
    { PACKING_PADDED, 100, NAN, "resnet50", "[workload] packing: the workload is no transformer of tokens whose sequence is known; leave it out, or give an "
                                            "architecture and its shape" },
    { PACKING_PADDED, 100, NAN, "vit_b16", "[workload] packing: the workload is no transformer of tokens whose sequence is known; leave it out, or give an "
                                           "architecture and its shape" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const WorkloadSpec spec = { .name = (char *) rows[i].name, .packing = { rows[i].kind, rows[i].length, rows[i].cv } };
      g_autoptr (GError) error = NULL;

      g_assert_null (workload_load (&spec, &error));
      g_assert_cmpstr (error->message, ==, rows[i].error);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (equals); i++)
    {
      g_autofree char *path = g_strdup_printf ("/documents/equal/%s", equals[i].name);

      g_test_add_data_func (path, &equals[i], test_equal);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (streams); i++)
    {
      g_autofree char *path = g_strdup_printf ("/documents/drawn/%g-%g", streams[i].mean, streams[i].cv);

      g_test_add_data_func (path, &streams[i], test_drawn);
    }
  g_test_add_func ("/documents/many", test_many);
  g_test_add_func ("/documents/long", test_long);
  g_test_add_func ("/documents/power", test_power);
  g_test_add_func ("/documents/whole", test_whole);
  g_test_add_func ("/documents/refused", test_refused);
  return g_test_run ();
}
