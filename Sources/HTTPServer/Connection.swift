import CMicroHTTPD
import Glibc
import Synchronization

/// One client's connection, and the request that it is at.
///
/// `@unchecked Sendable`: MHD calls for one connection from one thread at a time, and leaves a
/// suspended one alone, so that only the one reply to it touches `answer`. What the sweeper
/// reads besides is atomic or never changes.
final class Connection: @unchecked Sendable {
    let socket: Int32
    private let reception: Reception
    private let handle: OpaquePointer
    /// Accepted only to be told that there are too many.
    private let isExcess: Bool
    /// On the reception's clock; when it has passed, the connection is shut.
    private let deadline: Atomic<Int64>
    /// Between two requests, or before the first.
    private let isIdle = Atomic(true)
    /// From the head of a request to its answer. Each connection tells of itself: a common count would
    /// wander between the threads with each request.
    private let isInFlight = Atomic(false)
    private let memo = Memo()
    private var isFirst = true
    private var current = Exchange()

    /// What is known of the request at hand.
    private struct Exchange {
        enum Stage { case head, body, suspended }
        var stage = Stage.head
        var query: String?
        /// Whether the path or the query holds bytes that are no UTF-8.
        var isTargetMalformed = false
        var body: [UInt8] = []
        /// Memory that is set aside for it.
        var reserved = 0
        /// Bytes of the body so far, kept or dropped.
        var received = 0
        var limit: Int?
        var refusal: ServerRefusal?
        /// Given while the connection was suspended.
        var answer: Response?

        /// Whether a body of `count` bytes is read to its end, if only to be dropped.
        func isTolerable(_ count: Int) -> Bool { count - (limit ?? 0) <= Connection.tolerated }
    }

    private static let never = Int64.max
    private static let swept = Int64.min
    /// How much of a body that is too large is read, to let the client see the refusal: most
    /// clients read no answer before they have sent everything.
    private static let tolerated = 8 << 20
    /// For how much of a body that was only announced there is room at once.
    private static let trusted = 64 << 10

    init(_ handle: OpaquePointer, reception: Reception, isExcess: Bool) {
        self.handle = handle
        self.reception = reception
        self.isExcess = isExcess
        socket = httpd_socket(handle)
        deadline = Atomic(reception.connections.deadline(after: reception.timeouts.head))
    }

    // MARK: One request, in the order of calls

    /// Nothing but the first line of the request was seen so far.
    var isNew: Bool { current.stage == .head }

    /// The first line is there, the headers are not.
    func open(_ target: UnsafePointer<CChar>) {
        isIdle.store(false, ordering: .relaxed)
        if isFirst {
            isFirst = false
        } else {
            expire(after: reception.timeouts.head)
        }
        let bytes = UnsafeRawBufferPointer(start: target, count: strlen(target))
        current.isTargetMalformed =
            (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) == nil
        guard let mark = strchr(target, Int32(UInt8(ascii: "?"))) else { return }
        current.query = String(cString: mark + 1)
    }

    /// The head is there, and maybe a body will follow. No answer yet, as MHD would take one for
    /// the wish to close the connection.
    func begin(_ line: RequestLine) -> MHD_Result {
        current.stage = .body
        isInFlight.store(true, ordering: .sequentiallyConsistent)
        expire(after: reception.timeouts.body)
        let framing = Framing(handle)
        let declared = framing.length ?? 0
        if framing.isAmbiguous {
            current.refusal = .ambiguousLength
        } else if isExcess {
            current.refusal = .tooManyConnections
        } else if reception.isDraining {
            current.refusal = .draining
        } else if current.isTargetMalformed {
            current.refusal = .malformedTarget
        } else if declared > 0 {
            let limit = reception.rules.bodyLimit(line.methodText, line.pathText)
            current.limit = limit
            if declared > limit {
                current.refusal = .bodyTooLarge(limit: limit)
            } else {
                current.body.reserveCapacity(min(declared, Self.trusted))
            }
        }
        guard let refusal = current.refusal else { return .YES }
        let isReadable =
            !framing.isAmbiguous && current.isTolerable(declared)
            && headerValue("Expect", of: handle) == nil
        return isReadable ? .YES : refuse(refusal, closing: true)
    }

    /// Some of the body.
    func take(_ bytes: UnsafeRawBufferPointer, _ line: RequestLine) -> MHD_Result {
        current.received += bytes.count
        if current.refusal == nil {
            let limit = current.limit ?? reception.rules.bodyLimit(line.methodText, line.pathText)
            current.limit = limit
            if current.received > limit {
                current.refusal = .bodyTooLarge(limit: limit)
                current.body = []
            } else {
                current.body.append(contentsOf: bytes)
                // An array grows to more than what it holds.
                if !reserve(current.body.capacity) {
                    current.refusal = .busy
                    current.body = []
                }
            }
        }
        return current.isTolerable(current.received) ? .YES : .NO
    }

    /// Sets so much memory aside for the body, if there is any left. For what came, not for what was
    /// announced: who only announces must not use it up.
    private func reserve(_ bytes: Int) -> Bool {
        guard bytes > current.reserved else { return true }
        guard reception.reserve(bytes - current.reserved) else { return false }
        current.reserved = bytes
        return true
    }

    /// The request is whole, or its reply was given.
    func finish(_ line: RequestLine) -> MHD_Result {
        if current.stage == .suspended {
            guard let answer = current.answer.take() else { return .NO }
            return send(answer)
        }
        guard deadline.exchange(Self.never, ordering: .relaxed) != Self.swept else { return .NO }
        if let refusal = current.refusal {
            return refuse(refusal, closing: isExcess)
        }
        let request = Request(
            line, query: current.query, body: current.body, memo: memo, connection: handle)
        switch reception.rules.handler(request) {
        case .now(let response): return send(response)
        case .underway(let begin):
            suspend()
            begin(reply)
            return .YES
        case .later(let work): return suspend { reply in reply(work()) }
        case .eventually(let work): return suspend(work)
        }
    }

    /// The answer is sent, or never will be.
    func close() {
        isInFlight.store(false, ordering: .sequentiallyConsistent)
        reception.release(current.reserved)
        current = Exchange()
        expire(after: reception.timeouts.idle)
        isIdle.store(true, ordering: .relaxed)
    }

    // MARK: Answering

    private func suspend(_ work: @escaping @Sendable (Reply) -> Void) -> MHD_Result {
        current.body = []
        let isQueued = reception.pool.submit(prepare: suspend) { [self] in work(reply) }
        return isQueued ? .YES : refuse(.busy)
    }

    private func suspend() {
        current.body = []
        current.stage = .suspended
        MHD_suspend_connection(handle)
    }

    /// The way back for a connection that is suspended.
    private var reply: Reply {
        Reply { [self] response in
            // Without an answer MHD closes the connection.
            current.answer = response
            reception.resume(handle)
        }
    }

    private func refuse(_ refusal: ServerRefusal, closing: Bool = false) -> MHD_Result {
        reception.count(refusal)
        var response = reception.rules.refusal(refusal)
        if refusal.isPassing, !response.headers.contains(where: { $0.name == "Retry-After" }) {
            response.headers.append(Header("Retry-After", "1"))
        }
        return send(response, closing: closing)
    }

    private func send(_ response: Response, closing: Bool = false) -> MHD_Result {
        let built = response.body.withUnsafeBytes {
            // MHD promises not to write to the bytes, its signature does not.
            MHD_create_response_from_buffer(
                $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress),
                .RESPMEM_MUST_COPY)
        }
        guard let built else { return .NO }
        defer { MHD_destroy_response(built) }
        for header in response.headers { add(header, to: built) }
        if closing || reception.isDraining { add(Header("Connection", "close"), to: built) }
        expire(after: reception.timeouts.body)
        return MHD_queue_response(handle, UInt32(clamping: response.status), built)
    }

    /// Without a copy of the texts on the heap, which Swift makes when it passes one to C by itself.
    private func add(_ header: Header, to response: OpaquePointer) {
        // One that holds a line break is left out by MHD, as it should be.
        _ = header.name.withCString { name in
            header.value.withCString { value in MHD_add_response_header(response, name, value) }
        }
    }

    // Either a request sees that the reception is draining, or whoever drains sees the request: hence
    // the strict order.
    var hasRequest: Bool { isInFlight.load(ordering: .sequentiallyConsistent) }

    // MARK: Sweeping

    private func expire(after milliseconds: Int64) {
        deadline.store(
            reception.connections.deadline(after: milliseconds), ordering: .relaxed)
    }

    /// Ends a connection whose time is up. Its request is not handled if it became whole meanwhile.
    func sweep(at time: Int64) {
        let limit = deadline.load(ordering: .relaxed)
        guard limit < time, limit != Self.swept else { return }
        let mark = deadline.compareExchange(
            expected: limit, desired: Self.swept, ordering: .relaxed)
        if mark.exchanged { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// Ends a connection between two requests; a request that has just arrived is still read.
    func closeIfIdle() {
        if isIdle.load(ordering: .relaxed) { shutdown(socket, Int32(SHUT_RD)) }
    }
}
