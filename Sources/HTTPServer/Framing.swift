import CMicroHTTPD

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
        isAmbiguous =
            length == nil || headerCount("Content-Length", of: connection) > 1 || coding != nil
    }
}
