/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#include "base/keys.h"

/* [collective] */
typedef struct { char *algorithm; int protocol; } CollectiveSpec;   /* protocol: Protocol */
extern const Key collective_keys[];
