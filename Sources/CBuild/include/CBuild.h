#pragma once

/// The release, as in 0.1.0; 0.1.0-dev where no release was built.
const char *deed_build_version(void);
/// The commit that was built, and its day; empty where no release was built.
const char *deed_build_commit(void);
const char *deed_build_date(void);
