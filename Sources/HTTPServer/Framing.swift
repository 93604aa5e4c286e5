import CMicroHTTPD
import Glibc

/// What a request's head says about where its body ends.
struct Framing {
    /// `nil` for no body, or a chunked one.
    let length: Int?
    /// A proxy before this server could see another end than MHD does, and take what follows for
    /// another client's request.
    let isAmbiguous: Bool

    init(_ connection: OpaquePointer) {
        let coding = headerValue("Transfer-Encoding", of: connection)
        guard let text = headerValue("Content-Length", of: connection) else {
            length = nil
            isAmbiguous = coding.map { $0.lowercased() != "chunked" } ?? false
            return
        }
        length = Int(text)
        var lengths = 0
        MHD_get_connection_values_n(connection, .HEADER_KIND, countLengths, &lengths)
        isAmbiguous = length == nil || lengths > 1 || coding != nil
    }
}

private func countLengths(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?,
    nameLength: Int, value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    if let name, strcasecmp(name, "Content-Length") == 0 {
        context?.assumingMemoryBound(to: Int.self).pointee += 1
    }
    return .YES
}
