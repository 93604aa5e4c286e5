#include "COpenAPI.h"

#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char document[] = {
#embed "openapi.json"
};

const unsigned char *deed_openapi_start(void) { return document; }
long deed_openapi_length(void) { return sizeof document; }
