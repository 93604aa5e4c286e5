import CMicroHTTPD
import CReceive
import Glibc
import Synchronization

/// One client's connection and its current request.
///
/// `@unchecked Sendable`: MHD calls back for a connection on one thread at a time, and never while the connection is
/// suspended. During a suspension, only the reply writes `answer`. Everything else that the sweeper reads is atomic or
/// immutable.
final class Connection: @unchecked Sendable {
    let socket: Int32
    private let reception: Reception
    private let handle: OpaquePointer
    /// Whether the connection was accepted only to report that the server has too many connections.
    private let isExcess: Bool
    /// When to close the connection, according to the reception's clock.
    private let deadline: Atomic<Int64>
    /// Whether the connection is between two requests, or before the first one.
    private let isIdle = Atomic(true)
    /// True from the arrival of a request's head until its answer. Each connection has its own flag, because a shared
    /// counter would move between processors with each request.
    private let isInFlight = Atomic(false)
    /// Whether the last request came with a known key.
    private let isKnown = Atomic(false)
    private let outflow = Outflow()
    private let memo: Memo
    private var isFirst = true
    @exclusivity(unchecked) private var inlet = Inlet()
    /// The number of requests that the library has started.
    private var begun = 0
    @exclusivity(unchecked) private var current = Exchange()

    /// The state of the current request.
    private struct Exchange {
        enum Stage { case head, asking, body, suspended }
        var stage = Stage.head
        var query: String?
        /// Whether the path or the query contains bytes that are not UTF-8.
        var isTargetMalformed = false
        var body: [UInt8] = []
        /// The memory reserved for the body, in bytes.
        var reserved = 0
        /// The number of body bytes received so far, including discarded ones.
        var received = 0
        var limit: Int?
        var refusal: ServerRefusal?
        /// The answer, if it does not depend on the body.
        var early: Response?
        /// A worker's decision about the body.
        var admission: Admission?
        /// The address whose share of memory the body uses, if the sender has no key.
        var stranger: ClientAddress?
        /// The answer, which is set while the connection is suspended.
        var answer: Response?

        /// Whether the body is discarded.
        var isDropping: Bool { refusal != nil || early != nil }

        /// Returns whether a body of `count` bytes is read to its end, even if the body is discarded.
        func isTolerable(_ count: Int) -> Bool { count - (limit ?? 0) <= Connection.tolerated }
    }

    private static let never = Int64.max
    private static let swept = Int64.min
    /// The number of bytes read from an oversized body. Most clients send everything before they read the answer, and
    /// would otherwise miss the refusal.
    private static let tolerated = 8 << 20
    /// The memory reserved for an announced body before its bytes arrive.
    private static let trusted = 64 << 10

    init(_ handle: OpaquePointer, _ origin: Origin, reception: Reception, isExcess: Bool) {
        memo = Memo(origin)
        self.handle = handle
        self.reception = reception
        self.isExcess = isExcess
        socket = httpd_socket(handle)
        deadline = Atomic(reception.connections.deadline(after: reception.timeouts.head))
    }

    var peer: ClientAddress { memo.origin.peer }

    // MARK: One request, in the order of calls

    func receive(
        into buffer: UnsafeMutableRawBufferPointer, from source: UnsafePointer<receive_source>
    ) -> Int {
        let count = inlet.receive(into: buffer, from: source)
        if inlet.isHoldingHead, isIdle.load(ordering: .relaxed) { headBegins() }
        return count
    }

    /// The fault in the current request's bytes.
    private var framingFault: FramingFault? {
        guard let fault = inlet.fault, begun == inlet.heads else { return nil }
        return fault
    }

    private func headBegins() {
        isIdle.store(false, ordering: .relaxed)
        if !isFirst { expire(after: reception.timeouts.head) }
    }

    /// Whether nothing beyond the request's first line has been seen.
    var isNew: Bool { current.stage == .head || current.stage == .asking }

    /// Opens a request after its first line, before the headers arrive.
    func open(_ target: UnsafePointer<CChar>) {
        headBegins()
        isFirst = false
        begun += 1
        let bytes = UnsafeRawBufferPointer(start: target, count: strlen(target))
        current.isTargetMalformed =
            (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) == nil
        guard let mark = strchr(target, Int32(UInt8(ascii: "?"))) else { return }
        current.query = String(cString: mark + 1)
    }

    /// Begins a request after its head, before a possible body. The request cannot be answered yet,
    /// because MHD would then close the connection.
    func begin(_ line: RequestLine) -> MHD_Result {
        if current.stage == .asking { return admitted(line) }
        current.stage = .body
        isInFlight.store(true, ordering: .sequentiallyConsistent)
        expire(after: reception.timeouts.body)
        if let fault = framingFault { return refuse(.unframed(fault), line, closing: true) }
        let declared = headerValue("Content-Length", of: handle).flatMap { Int($0) } ?? 0
        if isExcess {
            current.refusal = .tooManyConnections
        } else if reception.isDraining {
            current.refusal = .draining
        } else if current.isTargetMalformed {
            current.refusal = .malformedTarget
        } else if declared > 0 || headerValue("Transfer-Encoding", of: handle) != nil {
            let head = request(line)
            return follow(reception.rules.admit(head), head.client, line, declared)
        }
        return readOn(line, declared)
    }

    private func follow(
        _ admission: Admission, _ client: ClientAddress?, _ line: RequestLine, _ declared: Int
    ) -> MHD_Result {
        noteKey()
        switch admission {
        case .body(let limit, let room):
            current.limit = limit
            if room != .known { current.stranger = client }
            if declared > limit {
                current.refusal = .bodyTooLarge(limit: limit)
            } else {
                current.body.reserveCapacity(min(declared, Self.trusted))
            }
        case .refused(let response): current.early = response
        case .asking(let ask):
            let isQueued = reception.submit(
                in: .strangers, of: client,
                prepare: {
                    current.stage = .asking
                    MHD_suspend_connection(handle)
                },
                { [self] in
                    current.admission = ask()
                    reception.resume(handle)
                })
            if isQueued { return .YES }
            current.refusal = .throttled
        }
        return readOn(line, declared)
    }

    /// Continues after a worker has decided what to do with the body.
    private func admitted(_ line: RequestLine) -> MHD_Result {
        current.stage = .body
        guard let admission = current.admission.take() else { return .NO }
        let declared = headerValue("Content-Length", of: handle).flatMap { Int($0) } ?? 0
        return follow(admission, request(line).client, line, declared)
    }

    /// Reads the body, even if it is discarded, or answers immediately.
    private func readOn(_ line: RequestLine, _ declared: Int) -> MHD_Result {
        guard current.isDropping else { return .YES }
        let isReadable =
            current.isTolerable(declared) && headerValue("Expect", of: handle) == nil
        return isReadable ? .YES : dismiss(line, closing: true)
    }

    /// Answers a request whose body was discarded.
    private func dismiss(_ line: RequestLine, closing: Bool) -> MHD_Result {
        if let early = current.early { return send(early, closing: closing) }
        return current.refusal.map { refuse($0, line, closing: closing) } ?? .NO
    }

    private func request(_ line: RequestLine) -> Request {
        Request(line, query: current.query, body: current.body, memo: memo, connection: handle)
    }

    /// Receives a part of the body.
    func take(_ bytes: UnsafeRawBufferPointer) -> MHD_Result {
        current.received += bytes.count
        if !current.isDropping {
            let limit = current.limit ?? 0
            if current.received > limit {
                current.refusal = .bodyTooLarge(limit: limit)
                current.body = []
            } else {
                current.body.append(contentsOf: bytes)
                // The capacity is reserved, because an array's capacity can exceed its count.
                if !reserve(current.body.capacity) {
                    current.refusal = current.stranger == nil ? .busy : .throttled
                    current.body = []
                }
            }
        }
        return current.isTolerable(current.received) ? .YES : .NO
    }

    /// Reserves memory for the body, if any is left. Only bytes that have arrived count: a client
    /// must not be able to use up memory just by announcing a length.
    private func reserve(_ bytes: Int) -> Bool {
        guard bytes > current.reserved else { return true }
        let more = bytes - current.reserved
        let isThere =
            current.stranger.map { reception.reserve(more, for: $0) } ?? reception.reserve(more)
        if isThere { current.reserved = bytes }
        return isThere
    }

    private func release() {
        if let stranger = current.stranger {
            reception.release(current.reserved, of: stranger)
        } else {
            reception.release(current.reserved)
        }
    }

    /// Finishes a request that is complete, or that has a reply.
    func finish(_ line: RequestLine) -> MHD_Result {
        if current.stage == .suspended {
            guard let answer = current.answer.take() else { return .NO }
            return send(answer)
        }
        guard deadline.exchange(Self.never, ordering: .relaxed) != Self.swept else { return .NO }
        if let fault = framingFault { return refuse(.unframed(fault), line, closing: true) }
        if current.isDropping { return dismiss(line, closing: isExcess) }
        switch reception.rules.handler(request(line)) {
        case .now(let response): return send(response)
        case .underway(let begin):
            suspend()
            begin(reply(in: .known))
            return .YES
        case .eventually(let room, let work): return suspend(line, in: room, work)
        }
    }

    /// Closes a request whose answer was sent, or whose connection ended without one.
    func close() {
        isInFlight.store(false, ordering: .sequentiallyConsistent)
        outflow.end()
        noteKey()
        release()
        current = Exchange()
        let isHolding = inlet.isHoldingHead
        expire(after: isHolding ? reception.timeouts.head : reception.timeouts.idle)
        isIdle.store(!isHolding, ordering: .relaxed)
    }

    // MARK: Answering

    private func suspend(
        _ line: RequestLine, in room: Room, _ work: @escaping @Sendable (LateReply) -> Void
    ) -> MHD_Result {
        current.body = []
        let isQueued = reception.submit(
            in: room, of: current.stranger ?? request(line).client, prepare: suspend
        ) { [self] in work(reply(in: room)) }
        return isQueued ? .YES : refuse(room == .known ? .busy : .throttled, line)
    }

    private func suspend() {
        current.body = []
        current.stage = .suspended
        MHD_suspend_connection(handle)
    }

    /// Returns the reply to a suspended connection.
    private func reply(in room: Room) -> LateReply {
        LateReply(work: { [self] in reception.pool(room).goOn($0) }) { [self] response in
            // Without an answer, MHD closes the connection.
            current.answer = response
            reception.resume(handle)
        }
    }

    private func refuse(
        _ refusal: ServerRefusal, _ line: RequestLine, closing: Bool = false
    ) -> MHD_Result {
        reception.count(refusal)
        var response = reception.rules.refusal(refusal, line.pathText)
        if refusal.isPassing, !response.headers.contains(where: { $0.name == "Retry-After" }) {
            response.headers.append(Header("Retry-After", "1"))
        }
        return send(response, closing: closing)
    }

    private func send(_ response: Response, closing: Bool = false) -> MHD_Result {
        // MHD promises not to write to the bytes, although its signature would allow it.
        func build(_ bytes: UnsafeRawBufferPointer, _ mode: MHD_ResponseMemoryMode)
            -> OpaquePointer?
        {
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), mode)
        }
        let built =
            response.lasting.map { build($0.bytes, .RESPMEM_PERSISTENT) }
            ?? response.body.withUnsafeBytes { build($0, .RESPMEM_MUST_COPY) }
        guard let built else { return .NO }
        defer { MHD_destroy_response(built) }
        let headers = response.headers.span
        for place in headers.indices { add(headers[place], to: built) }
        if let stamp = reception.stamp { add(stamp(), to: built) }
        if closing || reception.isDraining { add(Header("Connection", "close"), to: built) }
        outflow.begin(response.body.count, over: reception.timeouts.body, on: socket)
        expire(after: reception.timeouts.body)
        return MHD_queue_response(handle, UInt32(clamping: response.status), built)
    }

    /// Adds a header without the heap copies that Swift makes when it passes strings to C.
    private func add(_ header: Header, to response: OpaquePointer) {
        // MHD leaves out a header that contains a line break, as it should.
        _ = header.name.withCString { name in
            header.value.withCString { value in MHD_add_response_header(response, name, value) }
        }
    }

    // Sequential consistency ensures that either the request sees the drain or the drain sees the request.
    var hasRequest: Bool { isInFlight.load(ordering: .sequentiallyConsistent) }

    // MARK: Sweeping

    private func expire(after milliseconds: Int64) {
        deadline.store(
            reception.connections.deadline(after: milliseconds), ordering: .relaxed)
    }

    /// Ends an overdue connection, even if the rest of its request has arrived. An answer that keeps pace goes on.
    func sweep(at time: Int64) {
        let limit = deadline.load(ordering: .relaxed)
        guard limit < time, limit != Self.swept else { return }
        let more = reception.timeouts.body
        if outflow.keepsPace(over: more, on: socket) {
            let later = reception.connections.deadline(after: more)
            _ = deadline.compareExchange(expected: limit, desired: later, ordering: .relaxed)
        } else {
            end(at: limit)
        }
    }

    private func noteKey() { isKnown.store(memo.content != nil, ordering: .relaxed) }

    /// Whether the client has presented no known key and does not connect through a proxy.
    var isStranger: Bool { !memo.origin.isProxy && !isKnown.load(ordering: .relaxed) }

    /// A connection that waits for its client.
    struct Waiting {
        fileprivate let connection: Connection
        fileprivate let limit: Int64
        fileprivate let isIdle: Bool

        /// The order in which connections are closed, lowest first.
        var order: (Int, Int64) { (isIdle ? 0 : 1, limit) }

        /// Ends the connection before its deadline; `false` if the client has acted in the meantime.
        func end() -> Bool {
            connection.isIdle.load(ordering: .relaxed) == isIdle && connection.end(at: limit)
        }
    }

    var waiting: Waiting? {
        let limit = deadline.load(ordering: .relaxed)
        guard limit != Self.swept, limit != Self.never else { return nil }
        return Waiting(
            connection: self, limit: limit, isIdle: isIdle.load(ordering: .relaxed))
    }

    @discardableResult
    private func end(at limit: Int64) -> Bool {
        guard limit != Self.swept, limit != Self.never else { return false }
        let mark = deadline.compareExchange(
            expected: limit, desired: Self.swept, ordering: .relaxed)
        if mark.exchanged { shutdown(socket, Int32(SHUT_RDWR)) }
        return mark.exchanged
    }

    /// Closes the connection if it is between two requests. If a request has just arrived, it is still read.
    func closeIfIdle() {
        if isIdle.load(ordering: .relaxed) { shutdown(socket, Int32(SHUT_RD)) }
    }
}
