import CCurl
import Threading

/// A sender of many concurrent requests on a single thread, over connections that it keeps open.
///
/// Requests with the same `lane` share a small number of places, so a lane whose server hangs does not take places away
/// from other lanes. The courier always verifies certificates, and never follows redirects or uses proxies.
package final class Courier: Sendable {
    package typealias Answer = Result<OutboundResponse, OutboundError>

    package struct Limits: Sendable {
        /// The maximum number of requests in progress per lane.
        package var perLane = 4
        /// The maximum number of requests in all lanes together, in progress and waiting.
        package var requests = 1024
        /// The maximum number of requests per lane, in progress and waiting.
        package var ofLane = Int.max
        /// The maximum number of idle connections that stay open.
        package var idleConnections = 32

        package init() {}
    }

    /// A request that the courier has accepted.
    private struct Parcel: Sendable {
        let request: OutboundRequest
        let deadline: Int64
        let respond: @Sendable (Answer) -> Void
    }

    private struct State: Sendable {
        var waiting: [Parcel] = []
        var underWay: [String: Int] = [:]
        var count = 0
        /// The number of running and waiting requests, by lane.
        var counts: [String: Int] = [:]
        /// Whether the thread was woken and has not checked for work since then.
        var isWoken = false
        var isClosing = false
        var isOver = false

        mutating func add(_ lane: String) {
            count += 1
            counts[lane, default: 0] += 1
        }

        mutating func remove(_ lane: String) {
            count -= 1
            let left = counts[lane, default: 1] - 1
            counts[lane] = left > 0 ? left : nil
        }
    }
    private let state = Monitor(State())
    private let limits: Limits
    /// Used only by the courier's thread, except to wake that thread, which curl allows from any thread.
    nonisolated(unsafe) private let pool: UnsafeMutableRawPointer

    /// Creates a courier. With `rules`, requests can reach only the addresses that the rules allow. The CA file is
    /// trusted in addition to the system's certificates.
    package init(
        _ limits: Limits = Limits(), caFile: String? = nil, rules: AddressRules? = nil
    ) throws(OutboundError) {
        guard CurlLibrary.isReady, let pool = curl_multi_init() else {
            throw .unreachable(detail: "the HTTP library could not be started")
        }
        self.pool = pool
        self.limits = limits
        http_set_pool_number(pool, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        http_set_pool_number(pool, CURLMOPT_MAXCONNECTS, limits.idleConnections)
        let trust = Trust(
            caFile: caFile, addsToSystem: caFile != nil && rules != nil, rules: rules)
        startThread("courier") { [self] in
            var round = Round(pool: self.pool, trust: trust)
            run(&round)
        }
    }

    /// Calls `respond` exactly once, on the courier's own thread. Long work should move to another thread.
    package func send(
        _ request: OutboundRequest, respond: @escaping @Sendable (Answer) -> Void
    ) {
        let deadline = monotonicMilliseconds() + Int64(request.timeoutMilliseconds)
        let parcel = Parcel(request: request, deadline: deadline, respond: respond)
        let refusal = state.change(wake: .none) { state -> OutboundError? in
            if state.isClosing { return .cancelled }
            if state.count >= limits.requests { return .overloaded(limit: limits.requests) }
            if state.counts[request.lane, default: 0] >= limits.ofLane {
                return .overloaded(limit: limits.ofLane)
            }
            state.add(request.lane)
            state.waiting.append(parcel)
            if !state.isWoken { curl_multi_wakeup(pool) }
            state.isWoken = true
            return nil
        }
        if let refusal { respond(.failure(refusal)) }
    }

    /// Sends a request and waits for the complete answer.
    package func send(_ request: OutboundRequest) throws(OutboundError) -> OutboundResponse {
        let answer = Monitor<Answer?>(nil)
        send(request) { given in answer.change(wake: .one) { $0 = given } }
        return try answer.wait { $0 }.get()
    }

    /// Cancels all running and waiting requests. Returns once every sender has an answer.
    package func close() {
        state.change { state in
            state.isClosing = true
            if !state.isOver { curl_multi_wakeup(pool) }
        }
        state.wait { $0.isOver ? () : nil }
    }

    private func run(_ round: inout Round) {
        while !state.change(wake: .none, { $0.isClosing }) {
            for parcel in admit() { begin(parcel, in: &round) }
            round.perform()
            let ended = round.takeEnded() + round.takeOverdue(at: monotonicMilliseconds())
            finish(ended)
            // Waits only if no request has ended, because ended requests make room for waiting
            // ones.
            if ended.isEmpty { round.poll(milliseconds: 100) }
        }
        finish(round.takeAll())
        let left = state.change(wake: .none) { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for parcel in left { parcel.respond(.failure(.cancelled)) }
        state.change { state in
            curl_multi_cleanup(pool)
            state.isOver = true
        }
    }

    /// Gives free places to parcels that wait, and returns these parcels. Parcels that have waited
    /// too long get an error.
    private func admit() -> [Parcel] {
        let now = monotonicMilliseconds()
        let (admitted, overdue) = state.change(wake: .none) { state in
            state.isWoken = false
            var admitted: [Parcel] = []
            var overdue: [Parcel] = []
            var rest: [Parcel] = []
            for parcel in state.waiting {
                let lane = parcel.request.lane
                if parcel.deadline <= now {
                    overdue.append(parcel)
                    state.remove(lane)
                } else if state.underWay[lane, default: 0]
                    < parcel.request.places ?? limits.perLane
                {
                    state.underWay[lane, default: 0] += 1
                    admitted.append(parcel)
                } else {
                    rest.append(parcel)
                }
            }
            state.waiting = rest
            return (admitted, overdue)
        }
        for parcel in overdue {
            parcel.respond(
                .failure(.timedOut(milliseconds: parcel.request.timeoutMilliseconds)))
        }
        return admitted
    }

    private func begin(_ parcel: Parcel, in round: inout Round) {
        let now = monotonicMilliseconds()
        do throws(OutboundError) {
            try round.add(
                parcel.request, startedAt: now, deadline: parcel.deadline, parcel.respond)
        } catch {
            let ended = Round.Ended(
                lane: parcel.request.lane, respond: parcel.respond, answer: .failure(error))
            finish([ended])
        }
    }

    private func finish(_ ended: [Round.Ended]) {
        if ended.isEmpty { return }
        state.change(wake: .none) { state in
            for one in ended {
                state.remove(one.lane)
                let left = state.underWay[one.lane, default: 1] - 1
                state.underWay[one.lane] = left > 0 ? left : nil
            }
        }
        for one in ended { one.respond(one.answer) }
    }
}

private struct Round {
    struct Ended {
        let lane: String
        let respond: @Sendable (Courier.Answer) -> Void
        let answer: Courier.Answer
    }

    private struct Exchange {
        let transfer: Transfer
        let startedAt: Int64
        /// The deadline for the first byte of the answer.
        let firstByteBy: Int64
        let deadline: Int64
        let respond: @Sendable (Courier.Answer) -> Void
    }
    private let pool: UnsafeMutableRawPointer
    private let trust: Trust
    private var exchanges: [UnsafeMutableRawPointer: Exchange] = [:]
    /// For each origin, when a request last timed out.
    private var silences: [Substring: Int64] = [:]

    init(pool: UnsafeMutableRawPointer, trust: Trust) {
        self.pool = pool
        self.trust = trust
    }

    mutating func add(
        _ request: OutboundRequest, startedAt now: Int64, deadline: Int64,
        _ respond: @escaping @Sendable (Courier.Answer) -> Void
    ) throws(OutboundError) {
        guard let handle = curl_easy_init() else {
            throw .unreachable(detail: "the HTTP library could not create a handle")
        }
        let transfer: Transfer
        do throws(OutboundError) {
            transfer = try Transfer(request, on: handle, trust)
        } catch {
            curl_easy_cleanup(handle)
            throw error
        }
        // Deed enforces the time limit itself, because curl would reuse a connection after its own
        // timeout.
        http_set_number(handle, CURLOPT_TIMEOUT_MS, 0)
        if hasSilence(request.origin) { http_set_number(handle, CURLOPT_FRESH_CONNECT, 1) }
        guard curl_multi_add_handle(pool, handle) == CURLM_OK else {
            curl_easy_cleanup(handle)
            throw .unreachable(detail: "the HTTP library does not accept more requests")
        }
        exchanges[handle] = Exchange(
            transfer: transfer, startedAt: now,
            firstByteBy: now + Int64(request.firstByteMilliseconds), deadline: deadline,
            respond: respond)
    }

    /// Returns whether requests in progress may be using a connection on which the server fell silent. That connection
    /// gets no new requests, and closes after its last one.
    private mutating func hasSilence(_ origin: Substring) -> Bool {
        guard let last = silences[origin] else { return false }
        let isHeld = exchanges.values.contains {
            $0.startedAt <= last && $0.transfer.request.origin == origin
        }
        if !isHeld { silences[origin] = nil }
        return isHeld
    }

    func perform() {
        var running: Int32 = 0
        curl_multi_perform(pool, &running)
    }

    /// Waits for network activity, for a wake-up from another thread, or until the time is up.
    func poll(milliseconds: Int32) {
        curl_multi_poll(pool, nil, 0, exchanges.isEmpty ? 60_000 : milliseconds, nil)
    }

    mutating func takeEnded() -> [Ended] {
        var ended: [Ended] = []
        var left: Int32 = 0
        while let message = curl_multi_info_read(pool, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let handle = message.easy_handle else { continue }
            if let one = end(handle, { $0.result(message.data.result) }) { ended.append(one) }
        }
        return ended
    }

    /// Removes and returns the exchanges in which the server did not start or finish its answer in time.
    mutating func takeOverdue(at now: Int64) -> [Ended] {
        let overdue = exchanges.filter { _, exchange in
            exchange.deadline <= now
                || exchange.firstByteBy <= now && !exchange.transfer.hasBegun
        }
        return overdue.compactMap { handle, exchange in
            let request = exchange.transfer.request
            silences[request.origin] = now
            http_set_number(handle, CURLOPT_FORBID_REUSE, 1)
            let limit =
                exchange.deadline <= now
                ? request.timeoutMilliseconds : request.firstByteMilliseconds
            return end(handle) { _ in .failure(.timedOut(milliseconds: limit)) }
        }
    }

    /// Removes all exchanges and returns them as cancelled.
    mutating func takeAll() -> [Ended] {
        Array(exchanges.keys).compactMap { end($0) { _ in .failure(.cancelled) } }
    }

    private mutating func end(
        _ handle: UnsafeMutableRawPointer, _ answer: (Transfer) -> Courier.Answer
    ) -> Ended? {
        guard let exchange = exchanges.removeValue(forKey: handle) else { return nil }
        curl_multi_remove_handle(pool, handle)
        let given = answer(exchange.transfer)
        curl_easy_cleanup(handle)
        return Ended(
            lane: exchange.transfer.request.lane, respond: exchange.respond, answer: given)
    }
}
