import CMicroHTTPD
import CReceive

// libmicrohttpd (MHD) calls these functions. A daemon's context is its `Reception`. The context of a connection, and of
// each request on it, is its `Connection`.

func connectionChanged(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, code: MHD_ConnectionNotificationCode
) {
    guard let context, let handle, let slot else { return }
    let reception = Unmanaged<Reception>.fromOpaque(context).takeUnretainedValue()
    if code == .CONNECTION_NOTIFY_STARTED {
        let connection = reception.accept(handle)
        let pointer = Unmanaged.passRetained(connection).toOpaque()
        slot.pointee = pointer
        _ = receive_register(connection.socket, pointer, reception.isEncrypted)
    } else if let pointer = slot.pointee {
        _ = receive_register(httpd_socket(handle), nil, false)
        let connection = Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue()
        reception.connections.remove(connection)
        reception.dismiss(connection.peer)
    }
}

/// Passes the bytes from each connection's socket to MHD.
func bytesWanted(
    context: UnsafeMutableRawPointer?, buffer: UnsafeMutableRawPointer?, room: Int,
    source: UnsafePointer<receive_source>?
) -> Int {
    guard let context, let source else { return 0 }
    return withConnection(context) {
        $0.receive(into: UnsafeMutableRawBufferPointer(start: buffer, count: room), from: source)
    }
}

func requestLineReceived(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let target, let pointer = httpd_socket_context(handle) else { return nil }
    withConnection(pointer) { $0.open(target) }
    return pointer
}

func requestReceived(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?,
    upload: UnsafePointer<CChar>?, uploadSize: UnsafeMutablePointer<Int>?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let path, let method, let uploadSize, let pointer = slot?.pointee else { return .NO }
    let line = RequestLine(method: method, path: path)
    return withConnection(pointer) { connection in
        if connection.isNew { return connection.begin(line) }
        guard uploadSize.pointee > 0 else { return connection.finish(line) }
        defer { uploadSize.pointee = 0 }
        return connection.take(UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee))
    }
}

func requestCompleted(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, code: MHD_RequestTerminationCode
) {
    guard let pointer = slot?.pointee else { return }
    withConnection(pointer) { $0.close() }
}

/// Borrows the connection without incrementing its reference count. MHD keeps the connection alive during these calls.
private func withConnection<Result>(
    _ pointer: UnsafeMutableRawPointer, _ body: (Connection) -> Result
) -> Result {
    Unmanaged<Connection>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
}
