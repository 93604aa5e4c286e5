import COpenAPI

/// The API's description: `Sources/COpenAPI/openapi.json`, assembled from parts and embedded.
package enum OpenAPI {
    package static let document = [UInt8](
        UnsafeBufferPointer(start: deed_openapi_start(), count: deed_openapi_length()))
}
