package import Core
package import Outbound
package import Threading

/// The services that a store client needs.
package protocol StoreLine: Sendable {
    func credentials(of app: StoreApp) throws(StoreTrouble) -> StoreCredentials
    /// Takes one call from the budget that all instances share. If the budget is used up, returns when to try again.
    func take(_ turn: StoreTurn, now: Instant) throws(Fault) -> Instant?
    /// Tells all instances that the store accepts no calls of this kind until the given instant.
    func rest(_ turn: StoreTurn, until: Instant) throws(Fault)
    /// Calls `respond` once, on a thread that must not be blocked.
    func send(_ request: OutboundRequest, respond: @escaping @Sendable (Courier.Answer) -> Void)
    /// Returns the machine's time, because stores do not follow a test clock.
    func machineClock() -> Instant
    func pause(milliseconds: Int64)
}

extension StoreLine {
    /// Returns the store's answer, if the budget allows a call. If the store asks for a pause, all
    /// instances observe it.
    package func answer(
        to request: OutboundRequest, _ turn: StoreTurn, _ patience: StorePatience
    ) throws(StoreTrouble) -> OutboundResponse {
        try answering(request, turn, patience).awaited().get()
    }

    /// Like `answer`, but does not block the caller.
    package func answering(
        _ request: OutboundRequest, _ turn: StoreTurn, _ patience: StorePatience
    ) -> Course<Result<OutboundResponse, StoreTrouble>> {
        .work {
            do throws(StoreTrouble) {
                let wait = try rethrowing(as: StoreTrouble.fault, take(turn, now: machineClock()))
                if let wait { throw .limited(until: wait) }
            } catch {
                return .ended(.failure(error))
            }
            let request = request.limited(patience, lane: turn.app.lane)
            return .wait { resume in
                send(request) { answer in resume(.work { .ended(told(answer, turn)) }) }
            }
        }
    }

    private func told(
        _ answer: Courier.Answer, _ turn: StoreTurn
    ) -> Result<OutboundResponse, StoreTrouble> {
        Result { () throws(StoreTrouble) in
            let response = try rethrowing(as: StoreTrouble.init) { () throws(OutboundError) in
                try answer.get()
            }
            guard response.wantsPause else { return response }
            let end = response.pauseEnd(now: machineClock())
            try rethrowing(as: StoreTrouble.fault, rest(turn, until: end))
            throw .limited(until: end)
        }
    }
}

extension StoreTrouble {
    fileprivate init(_ error: OutboundError) {
        switch error {
        case .untrusted(let detail): self = .untrusted(detail)
        case .replyTooLarge(let limit): self = .unreadable("it is larger than \(limit) bytes")
        case .malformedRequest:
            self = .fault(.broken("A request to the store could not be sent as intended."))
        case .unreachable, .timedOut, .brokenOff, .forbidden, .cancelled, .overloaded:
            self = .unavailable(error.description)
        }
    }
}

extension StoreApp {
    /// The lane for an app's calls. A store that hangs for one app does not delay other apps.
    fileprivate var lane: String { "\(project.text)\u{0}\(key.store.rawValue)\u{0}\(key.id.text)" }
}

/// How long to wait for a store, in milliseconds. It is well below the lease of queued evidence.
package struct StorePatience: Sendable {
    package let firstByte: Int
    package let whole: Int

    package static let usual = StorePatience(firstByte: 10_000, whole: 20_000)

    package init(firstByte: Int, whole: Int) {
        self.firstByte = firstByte
        self.whole = whole
    }
}

extension OutboundRequest {
    /// Returns the request with the time limits for calls to the store.
    fileprivate func limited(_ patience: StorePatience, lane: String) -> OutboundRequest {
        var request = self
        request.lane = lane
        request.timeoutMilliseconds = patience.whole
        request.firstByteMilliseconds = patience.firstByte
        // Replies have the same size limit as evidence.
        request.replyLimit = 4 << 20
        return request
    }
}

extension StoreTrouble {
    /// The trouble to report if the answer came from a proxy or was cut off.
    package static let notFromStore = unavailable("what answered in its place is not JSON")
}

extension OutboundResponse {
    /// Whether the store asks for a pause because of a limit or a fault.
    fileprivate var wantsPause: Bool {
        status == 429 || status >= 500 && header("Retry-After") != nil
    }

    /// Returns when the pause that a store has requested ends. The store writes an instant in
    /// milliseconds. A proxy in front of the store may instead write a number of seconds, as HTTP
    /// specifies.
    fileprivate func pauseEnd(now: Instant) -> Instant {
        let (usual, longest): (Int64, Int64) = (60_000, 24 * 3_600_000)
        guard let number = header("Retry-After").flatMap({ Int64($0) }), number >= 0 else {
            return now.advanced(byMilliseconds: usual)
        }
        let wait =
            number > 1_000_000_000_000
            ? number - now.milliseconds : min(number, longest / 1000) * 1000
        return now.advanced(byMilliseconds: min(max(wait, 0), longest))
    }
}
