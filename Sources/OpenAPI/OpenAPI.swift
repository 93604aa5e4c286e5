import COpenAPI

/// The API's contract: `Sources/COpenAPI/openapi.json`, written by hand and embedded.
package enum OpenAPI {
    package static let document = [UInt8](
        UnsafeBufferPointer(start: deed_openapi_start(), count: deed_openapi_length()))
}
