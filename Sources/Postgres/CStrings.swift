import Glibc

/// C strings in a null-terminated array, for C functions that take one.
struct CStrings: ~Copyable {
    private let owned: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String]) {
        owned = texts.map { strdup($0) } + [nil]
    }

    deinit {
        for pointer in owned { free(pointer) }
    }

    var pointers: [UnsafePointer<CChar>?] { owned.map { UnsafePointer($0) } }
}
