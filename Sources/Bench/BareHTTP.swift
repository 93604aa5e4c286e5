import CMicroHTTPD
import Glibc
import HTTPServer

/// The answer from the bare server.
private struct BareAnswer {
    let body: UnsafeMutableRawBufferPointer
    /// The names and values of the headers that MHD does not write itself.
    let headers: [(name: UnsafePointer<CChar>, value: UnsafePointer<CChar>)]

    /// Reads the headers from the head of an answer, in curl's format.
    init(head: [UInt8], body bytes: [UInt8]) {
        body = .allocate(byteCount: bytes.count, alignment: 1)
        body.copyBytes(from: bytes)
        let ownHeaders: Set = ["date", "connection", "content-length"]
        var headers: [(name: UnsafePointer<CChar>, value: UnsafePointer<CChar>)] = []
        for line in String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ": ", maxSplits: 1)
            guard parts.count == 2, !ownHeaders.contains(parts[0].lowercased()),
                let name = strdup(String(parts[0])), let value = strdup(String(parts[1]))
            else { continue }
            headers.append((UnsafePointer(name), UnsafePointer(value)))
        }
        self.headers = headers
    }
}

/// Serves the same answer to every request using MHD alone, as a baseline for the measured reads.
/// Sends the same bytes as the measured server, with the same number of threads.
func serveBare(_ options: BenchOptions) -> Int32 {
    guard let listen = options["--listen"], let bytes = options.content(of: "--bytes"),
        let head = options.content(of: "--head"),
        let port = listen.split(separator: ":").last.flatMap({ UInt16($0) })
    else {
        complain("bare-http needs --listen 127.0.0.1:PORT, a readable --bytes FILE and --head FILE")
        return 2
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    holdEndSignals()
    let context = UnsafeMutablePointer<BareAnswer>.allocate(capacity: 1)
    context.initialize(to: BareAnswer(head: head, body: bytes))
    let daemon = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            httpd_start_bare(
                $0, UInt32(ServerSettings().threads), answerBare, context)
        }
    }
    guard let daemon else {
        complain("cannot listen on \(listen)")
        return 3
    }
    waitForEnd()
    MHD_stop_daemon(daemon)
    return 0
}

private func answerBare(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?,
    upload: UnsafePointer<CChar>?, uploadSize: UnsafeMutablePointer<Int>?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let slot else { return .NO }
    guard slot.pointee != nil else {
        slot.pointee = context
        return .YES
    }
    // The body of the request is read and discarded.
    if let uploadSize, uploadSize.pointee > 0 {
        uploadSize.pointee = 0
        return .YES
    }
    let answer = context.assumingMemoryBound(to: BareAnswer.self)
    guard
        let response = MHD_create_response_from_buffer(
            answer.pointee.body.count, answer.pointee.body.baseAddress, .RESPMEM_PERSISTENT)
    else { return .NO }
    defer { MHD_destroy_response(response) }
    for header in answer.pointee.headers {
        MHD_add_response_header(response, header.name, header.value)
    }
    return MHD_queue_response(connection, UInt32(MHD_HTTP_OK), response)
}
