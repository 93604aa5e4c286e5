#include "CBuild.h"

// scripts/package defines these macros; see Package.swift.
#ifndef DEED_VERSION
#define DEED_VERSION "0.1.0-dev"
#endif
#ifndef DEED_COMMIT
#define DEED_COMMIT ""
#endif
#ifndef DEED_DATE
#define DEED_DATE ""
#endif

const char *deed_build_version(void) { return DEED_VERSION; }
const char *deed_build_commit(void) { return DEED_COMMIT; }
const char *deed_build_date(void) { return DEED_DATE; }
