import Core
import JSON
import Service

/// An erasure as printed by `deed customer erased --list --json`.
struct ListedErasure {
    let request: ErasureRequest
    let erasedAt: Instant
    private let position: String

    init?(_ line: String) {
        guard let json = try? JSON.read(line), let position = json["position"]?.string,
            let erasedAt = json["erased_at"]?.string.flatMap({ Instant(text: $0) }),
            let project = json["project"]?.string.flatMap({ try? ProjectID($0) }),
            let customer = json["customer"]?.string.flatMap({ try? CustomerID($0) }),
            !customer.isReserved,
            let environment = json["environment"]?.string.flatMap(Environment.init(rawValue:)),
            let reason = json["reason"]?.string.flatMap({ try? Reason($0) }),
            let treatment = json["purchases"]?.string.flatMap(PurchaseTreatment.init(rawValue:)),
            let marks = json["marks"]?.array?.map({ $0.string.flatMap { PurchaseMark($0) } }),
            // Forgotten purchases would come back if a mark were missing.
            !marks.contains(nil), json["forgotten"]?.integer == Int64(marks.count)
        else { return nil }
        let ticket = json["ticket"]?.string.map { try? Ticket($0) }
        if case .some(nil) = ticket { return nil }
        self.position = position
        self.erasedAt = erasedAt
        request = ErasureRequest(
            customer, in: project, environment,
            reason: AdminReason(reason: reason, ticket: ticket.flatMap(\.self)),
            treatment: treatment, intent: nil, lost: marks.compactMap(\.self))
    }

    /// Returns whether the recorded event is this erasure itself.
    func isSame(_ recorded: RecordedEvent) -> Bool {
        "\(recorded.position)" == position && recorded.recordedAt == erasedAt
    }

    /// Returns whether the recorded event repeats this erasure.
    func isRepeated(_ recorded: RecordedEvent) -> Bool { recorded.cause == "key:\(key)" }

    /// An idempotency key that stays the same across attempts.
    var key: String { "again:\(position)/\(erasedAt.text)" }
}
