#pragma once

/// The release, such as 0.1.0; 0.1.0-dev if this build is not a release.
const char *deed_build_version(void);
/// The commit and its date; empty if this build is not a release.
const char *deed_build_commit(void);
const char *deed_build_date(void);
