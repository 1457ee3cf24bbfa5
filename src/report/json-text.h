/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include <glib.h>
#include <json-glib/json-glib.h>

/* The tree as text, indented by two, doubles with 9 figures ("%.9g"; json-glib's
 * own generator prints 17).  A number that is not finite becomes null. */
void json_text_append (GString *out, JsonNode *root);
/* A node that stands `depth` levels deep, no line end behind it. */
void json_text_append_part (GString *out, JsonNode *node, guint depth);

/* Members, for a JsonBuilder inside an object. */
void json_put_number (JsonBuilder *builder, const char *name, double value);   /* NAN, infinity: null */
void json_put_count  (JsonBuilder *builder, const char *name, guint64 value);
void json_put_text   (JsonBuilder *builder, const char *name, const char *value);   /* NULL: null */
void json_put_bool   (JsonBuilder *builder, const char *name, gboolean value);
