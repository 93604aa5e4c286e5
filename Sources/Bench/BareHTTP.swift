import CMicroHTTPD
import Glibc

/// Serves the same bytes to every request with MHD and nothing else: what a read is measured by.
/// It sends the same number of bytes as `server-http` and has as many threads.
func serveBare(_ options: BenchOptions) -> Int32 {
    guard let listen = options["--listen"], let bytes = options.bytes,
        let port = listen.split(separator: ":").last.flatMap({ UInt16($0) })
    else {
        complain("bare-http needs --listen 127.0.0.1:PORT and a readable --bytes FILE")
        return 2
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    let answer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    answer.copyBytes(from: bytes)
    let context = UnsafeMutablePointer<UnsafeMutableRawBufferPointer>.allocate(capacity: 1)
    context.initialize(to: answer)
    let daemon = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            httpd_start_bare(
                $0, UInt32(sysconf(Int32(_SC_NPROCESSORS_ONLN))), answerBare, context)
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
    let bytes = context.assumingMemoryBound(to: UnsafeMutableRawBufferPointer.self).pointee
    guard
        let response = MHD_create_response_from_buffer(
            bytes.count, bytes.baseAddress, .RESPMEM_PERSISTENT)
    else { return .NO }
    defer { MHD_destroy_response(response) }
    MHD_add_response_header(response, "Content-Type", "application/json")
    return MHD_queue_response(connection, UInt32(MHD_HTTP_OK), response)
}
