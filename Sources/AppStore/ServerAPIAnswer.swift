package import Core
internal import Evidence
internal import JSON
internal import Outbound
internal import StoreAccess

/// Reads answers from Apple's server API.
struct ServerAPIAnswer {
    /// The code for a transaction that this environment does not know, or that belongs to a different app.
    static let unknownTransaction: Int64 = 4_040_010
    private static let retryableCodes: Set<Int64> = [
        4_040_002, 4_040_004, 4_040_006, 5_000_000, 5_000_001,
    ]

    let call: StoreCall
    let environment: Environment

    func read(_ response: OutboundResponse) throws(StoreTrouble) -> StoreAnswer {
        switch response.status {
        case 200, 202: return try answer(response.body)
        case 401: throw .unauthorized
        default: throw error(response)
        }
    }

    private func error(_ response: OutboundResponse) -> StoreTrouble {
        let json = try? JSON.read(response.body)
        let code = json?["errorCode"]?.integer
        // A refusal that has one of the API's codes concerns the question. A refusal without a code concerns the
        // caller.
        if response.status == 403, code == nil { return .unauthorized }
        // Only an answer with one of the API's own codes is a refusal by the API. Other answers may come from a proxy.
        guard (400..<500).contains(response.status), let code,
            !ServerAPIAnswer.retryableCodes.contains(code)
        else { return .unavailable("it answered \(code ?? Int64(response.status))") }
        return .refused(byAppStore: code, (json?["errorMessage"]?.string ?? "").printable)
    }

    private func answer(_ body: [UInt8]) throws(StoreTrouble) -> StoreAnswer {
        var answer = StoreAnswer(environment: environment)
        answer.byteCount = body.count
        if call.answersNothing, body.isEmpty { return answer }
        guard let json = try? JSON.read(body) else { throw .notFromStore }
        if call.answersNothing { return answer }
        if json.object == nil { throw .unreadable("it is not a JSON object") }
        let reader = MemberReader(json: json)
        switch call {
        case .transaction:
            answer.evidence = [try reader.signed("signedTransactionInfo", .signedTransaction)]
        case .installation:
            answer.evidence = [try reader.signed("signedAppTransactionInfo", .appTransaction)]
        case .standings: try readStandings(reader, into: &answer)
        case .history, .refunds:
            answer.evidence = try reader.transactions()
            answer.next = try reader.nextPage("revision")
            answer.revision = json["revision"]?.string
        case .order:
            let status = try reader.integer("status")
            answer.remark = .order(isFound: status == 0)
            if status == 0 { answer.evidence = try reader.transactions() }
        case .notifications: try readNotifications(reader, into: &answer)
        case .test: answer.remark = .testSent(token: try reader.text("testNotificationToken"))
        case .testResult:
            answer.evidence = [try reader.signed("signedPayload", .notification)]
            answer.remark = .attempts([try reader.attempts()])
        case .extend(let id, _):
            if try reader.text("originalTransactionId") != id.text {
                throw .foreign("it is about another subscription")
            }
            answer.remark = .extended(until: json["effectiveDate"]?.instant)
        case .extendAll:
            answer.remark = .extendingAll(request: try reader.text("requestIdentifier"))
        case .extendAllResult:
            answer.remark = .extendedAll(
                isComplete: json["complete"]?.bool ?? false,
                succeeded: json["succeededCount"]?.integer ?? 0,
                failed: json["failedCount"]?.integer ?? 0)
        case .finish, .setToken, .consumption, .probe, .reading: break
        }
        return answer
    }

    private func readStandings(
        _ reader: MemberReader, into answer: inout StoreAnswer
    ) throws(StoreTrouble) {
        var standings: [StandingTold] = []
        for group in try reader.list("data") {
            for item in try MemberReader(json: group).list("lastTransactions") {
                let item = MemberReader(json: item)
                answer.evidence.append(
                    try item.signed("signedTransactionInfo", .signedTransaction))
                answer.evidence.append(try item.signed("signedRenewalInfo", .renewalInfo))
                let original = try item.text("originalTransactionId").printable
                standings.append(
                    StandingTold(
                        purchase: "\(Store.apple.rawValue):\(original)",
                        text: standing(try item.integer("status"))))
            }
        }
        answer.remark = .standings(standings)
    }

    private func standing(_ number: Int64) -> String {
        switch number {
        case 1: "active"
        case 2: "expired"
        case 3: "billing_retry"
        case 4: "grace"
        case 5: "revoked"
        default: "status_\(number)"
        }
    }

    private func readNotifications(
        _ reader: MemberReader, into answer: inout StoreAnswer
    ) throws(StoreTrouble) {
        var attempts: [[SendAttempt]] = []
        for item in try reader.list("notificationHistory") {
            let item = MemberReader(json: item)
            answer.evidence.append(try item.signed("signedPayload", .notification))
            attempts.append(try item.attempts())
        }
        answer.remark = .attempts(attempts)
        answer.next = try reader.nextPage("paginationToken")
    }
}

extension StoreTrouble {
    /// Returns the meaning of a refusal by Apple's API.
    package static func refused(byAppStore code: Int64, _ message: String) -> StoreTrouble {
        let meaning: Meaning? =
            switch code {
            case 4_000_012: .tooFarBack
            case 4_040_001, 4_040_005, ServerAPIAnswer.unknownTransaction: .purchaseUnknown
            case 4_040_007: .noAddress
            case 4_040_008: .testUnknown
            default: nil
            }
        return .refused(code: code, message: message, meaning: meaning)
    }
}

extension StoreCall {
    fileprivate var answersNothing: Bool {
        switch self {
        case .finish, .setToken, .consumption: true
        default: false
        }
    }
}

/// Reads the members of an answer, each of which must have the right type.
private struct MemberReader {
    /// More entries than the API ever puts on a page.
    private static let listLimit = 1000
    /// The maximum number of times that Apple tries to send a notification.
    private static let attemptLimit = 6

    let json: JSON

    func text(_ name: String) throws(StoreTrouble) -> String {
        guard let text = json[name]?.string else { throw missing(name) }
        return text
    }

    func integer(_ name: String) throws(StoreTrouble) -> Int64 {
        guard let number = json[name]?.integer else { throw missing(name) }
        return number
    }

    func list(
        _ name: String, upTo limit: Int = MemberReader.listLimit
    ) throws(StoreTrouble) -> [JSON] {
        guard let list = json[name]?.array else { throw missing(name) }
        if list.count > limit {
            throw .unreadable("\"\(name)\" has more than \(limit) entries")
        }
        return list
    }

    func signed(_ name: String, _ kind: EvidenceKind) throws(StoreTrouble) -> RawEvidence {
        evidence(try text(name), kind)
    }

    func transactions() throws(StoreTrouble) -> [RawEvidence] {
        var pieces: [RawEvidence] = []
        for entry in try list("signedTransactions") {
            guard let text = entry.string else { throw missing("signedTransactions") }
            pieces.append(evidence(text, .signedTransaction))
        }
        return pieces
    }

    private func evidence(_ text: String, _ kind: EvidenceKind) -> RawEvidence {
        RawEvidence(
            kind, Array(text.utf8), rank: kind == .notification ? .notification : .serverAPI)
    }

    /// Returns the token for the next page, or `nil` if the answer has no next page.
    func nextPage(_ name: String) throws(StoreTrouble) -> String? {
        guard json["hasMore"]?.bool == true else { return nil }
        return try text(name)
    }

    func attempts() throws(StoreTrouble) -> [SendAttempt] {
        try list("sendAttempts", upTo: MemberReader.attemptLimit).map { attempt in
            let result = (attempt["sendAttemptResult"]?.string ?? "").printable
            return SendAttempt(
                at: attempt["attemptDate"]?.instant, result: result,
                hasArrived: result == "SUCCESS")
        }
    }

    private func missing(_ name: String) -> StoreTrouble {
        .unreadable("\"\(name)\" is missing or has another form")
    }
}

extension JSON {
    fileprivate var instant: Instant? { integer.map(Instant.init(milliseconds:)) }
}

extension String {
    /// The string without characters that could disrupt a log line or a terminal.
    fileprivate var printable: String {
        String(
            prefix(200).filter { character in
                character.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            })
    }
}
