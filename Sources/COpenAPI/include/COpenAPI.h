#pragma once

/// The bytes of openapi.json.
const unsigned char *deed_openapi_start(void);
long deed_openapi_length(void);
