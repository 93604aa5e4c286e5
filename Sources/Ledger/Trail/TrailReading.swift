package import Core
import JSON
import Postgres
import SQL

extension Ledger {
    /// The maximum number of events to examine if not all of them match.
    private static let actLook = 10_000
    private static let acts = EventType.allCases.filter(\.isAct).map(\.name)

    /// Returns up to `limit` matching actions after a place in the trail, newest first. Actions by `others` are
    /// excluded.
    package func acts(
        of project: ProjectID, _ filter: TrailFilter, after last: TrailPlace?, limit: Int,
        without others: [Actor]
    ) throws(Fault) -> FoundActs {
        let look = max(limit, Ledger.actLook)
        let own = Stream.ofProject(project).customer.text
        let (at, shard, sequence) = last.actBound
        let call = Statement.listActs(
            .text(project.text), .text(filter.environment?.rawValue), .int8(at), .int2(shard),
            .int8(sequence), .text(filter.actor?.text), .text(filter.customer?.text),
            .text(filter.action), .text(filter.ticket?.member),
            .int8(filter.from?.milliseconds ?? .min), .int8(filter.to?.milliseconds ?? .max),
            .int8(Int64(look)), .int8(Int64(limit)), .texts(others.map(\.text)),
            .text(own), .texts(Ledger.acts))
        let rows = try list(call) { rows, row throws(LedgerError) in
            let place = TrailPlace.act(
                Instant(milliseconds: rows.int8(row, 7)),
                Position(shard: Shard(number: rows.int2(row, 0)), sequence: rows.int8(row, 1)))
            // The trail continues even after unreadable rows.
            guard rows.bool(row, 9) else {
                return (act: RecordedAct?.none, place: place, fits: false)
            }
            let act = try rows.readable(row, unread) { rows, row in
                UnreadSubject(project.text, rows.text(row, 2), rows.text(row, 3))
            } _: { rows, row throws(LedgerError) -> RecordedAct in
                try RecordedAct(rows, row, of: project)
            }
            // A merge also names the tickets of moved items, which do not count.
            let isOfCase = filter.ticket == nil || act?.why.ticket == filter.ticket?.text
            return (act: isOfCase ? act : nil, place: place, fits: true)
        }
        let acts = rows.compactMap(\.act)
        let fitting = rows.filter(\.fits)
        let isShortened = fitting.count == limit && acts.count < limit
        return FoundActs(
            acts: acts,
            lookedUntil: isShortened ? fitting.last?.place : rows.first { !$0.fits }?.place)
    }

    /// Returns up to `limit` matching refused calls after a place in the trail, newest first.
    package func refusedCalls(
        of project: ProjectID, _ filter: TrailFilter, after last: TrailPlace?, limit: Int,
        since: Instant
    ) throws(Fault) -> [RefusedCall] {
        let key = filter.actor.map { RefusedCall.caller(named: $0) ?? "" }
        let (at, id) = last.refusalBound
        let listed = RowList { place, limit in
            let (of, fitting): ([Bind], [Bind]) = (
                [.text(project.text), .text(filter.environment?.rawValue)],
                [
                    .text(key), .text(filter.customer?.text), .text(filter.action),
                    .text(filter.ticket?.text), .int8(filter.from?.milliseconds ?? .min),
                    .int8(filter.to?.milliseconds ?? .max), limit, .int8(since.milliseconds),
                ]
            )
            return Call(statement: .listRefusedCalls, binds: of + place + fitting)
        } place: { rows, row in
            [.int8(rows.int8(row, 0)), .text(rows.text(row, 1))]
        } subject: { rows, row in
            UnreadSubject(project.text, "", "", row: "refused_calls \(rows.text(row, 1))")
        } item: { rows, row throws(LedgerError) -> RefusedCall in
            var call = RefusedCall(
                project: project, at: Instant(milliseconds: rows.int8(row, 0)),
                id: rows.text(row, 1), key: try rows.identifier(row, 2), call: rows.text(row, 3),
                status: Int(rows.int2(row, 6)), code: rows.text(row, 7))
            call.customer = rows.optionalText(row, 4).flatMap { try? CustomerID($0) }
            call.environment = rows.optionalText(row, 5).flatMap(Environment.init(rawValue:))
            call.reason = rows.optionalText(row, 8).flatMap { try? Reason($0) }
            call.ticket = rows.optionalText(row, 9).flatMap { try? Ticket($0) }
            return call
        }
        return try page(after: [.int8(at), .text(id)], limit: limit, listed)
    }

    package func note(_ calls: [RefusedCall]) throws(Fault) {
        try sendBeside(
            Statement.noteRefusedCalls(
                .texts(calls.map(\.project.text)), .int8s(calls.map(\.at.milliseconds)),
                .texts(calls.map(\.id)), .texts(calls.map(\.key.text)),
                .texts(calls.map(\.call)), .texts(calls.map(\.customer?.text)),
                .texts(calls.map(\.environment?.rawValue)),
                .int2s(calls.map { Int16(clamping: $0.status) }), .texts(calls.map(\.code)),
                .texts(calls.map(\.reason?.text)), .texts(calls.map(\.ticket?.text))))
    }

    package func forgetRefusedCalls(
        of project: ProjectID, before instant: Instant, beyond count: Int64
    ) throws(Fault) {
        try sendBeside(
            Statement.forgetRefusedCalls(
                .text(project.text), .int8(instant.milliseconds), .int8(count)))
    }
}

extension RecordedAct {
    /// Reads a row of `list_acts`.
    fileprivate init(
        _ rows: borrowing Rows, _ row: Int, of project: ProjectID
    ) throws(LedgerError) {
        let stream = try Stream(
            project: project.text, environment: rows.text(row, 2), customer: rows.text(row, 3))
        self.init(
            position: Position(shard: stream.shard, sequence: rows.int8(row, 1)),
            stream: stream, version: rows.int8(row, 4), type: rows.text(row, 5),
            why: RecordedAct.Why(ofPayload: rows.text(row, 6)),
            at: Instant(milliseconds: rows.int8(row, 7)),
            actor: try rows.identifier(row, 8))
    }
}

extension RecordedAct.Why {
    /// Reads the ticket from the payload itself or, for a moved purchase or a closed order, from its cause.
    fileprivate init(ofPayload text: String) {
        let payload = try? JSON.read(text)
        let cause = payload?["cause"]
        self.init(
            reason: payload?["reason"]?.string ?? cause?["reason"]?.string,
            ticket: payload?["ticket"]?.string ?? cause?["ticket"]?.string)
    }
}

extension TrailPlace? {
    /// Actions that follow this place in the trail come before this bound.
    fileprivate var actBound: (at: Int64, shard: Int16, sequence: Int64) {
        switch self {
        case nil: (.max, .max, .max)
        case .act(let at, let position):
            (at.milliseconds, Int16(clamping: position.shard.number), position.sequence)
        case .refusal(let at, _): (at.milliseconds, -1, 0)
        }
    }

    /// Refused calls that follow this place in the trail come before this bound.
    fileprivate var refusalBound: (at: Int64, id: String) {
        switch self {
        case nil: (.max, "")
        case .act(let at, _): (at.milliseconds &+ 1, "")
        case .refusal(let at, let id): (at.milliseconds, id)
        }
    }
}

extension Ticket {
    /// The member as it appears in a payload. Inside a JSON string, the quotes would be escaped.
    fileprivate var member: String { "\"ticket\":" + JSON.string(text).text }
}
