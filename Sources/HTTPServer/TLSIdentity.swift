import CReceive
import Glibc

/// The certificate and key that a server presents to new connections.
struct TLSIdentity: Sendable {
    /// The loaded certificate and key. The unsafe marker is needed only for the pointer's type: the object is never
    /// changed or freed.
    nonisolated(unsafe) private let loaded: OpaquePointer
    /// When the certificate expires, in seconds since 1970.
    let ends: Int64

    init(_ files: TLSFiles) throws(ServerError) {
        let certificate = try Self.read(files.certificate)
        let key = try Self.read(files.key)
        guard let loaded = identity_load(certificate, certificate.count, key, key.count) else {
            throw .certificateRejected(certificate: files.certificate, key: files.key)
        }
        self.loaded = loaded
        ends = identity_ends(loaded)
    }

    /// Presents the certificate to the client on that socket.
    func use(on socket: Int32) { identity_use(socket, loaded) }

    private static func read(_ path: String) throws(ServerError) -> [UInt8] {
        guard let file = fopen(path, "re") else {
            throw .fileUnreadable(path: path, code: errno)
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw .fileUnreadable(path: path, code: errno) }
        return Array(bytes.prefix(count))
    }
}
