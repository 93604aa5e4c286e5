import Glibc

/// The PEM texts that identify a server.
struct TLSIdentity {
    let certificate: String
    let key: String

    init(_ files: TLSFiles) throws(ServerError) {
        certificate = try Self.read(files.certificate)
        key = try Self.read(files.key)
    }

    private static func read(_ path: String) throws(ServerError) -> String {
        guard let file = fopen(path, "re") else {
            throw .fileUnreadable(path: path, code: errno)
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw .fileUnreadable(path: path, code: errno) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
