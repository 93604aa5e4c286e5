import Core
import Evidence
import JSON

/// The result of an examination, for programs and people.
struct VerifyReport {
    private let examination: Examination

    init(_ examination: Examination) {
        self.examination = examination
    }

    var json: JSON {
        let statement = examination.statement
        var object = JSONObject()
        object.append("believed", .bool(examination.isBelieved))
        object.append("kind", .optional(examination.kind?.word))
        object.append("environment", .optional(statement?.environment.rawValue))
        object.append("store_environment", .optional(statement?.environmentName))
        object.append("bundle_id", .optional(statement?.app?.text))
        object.append("app_version", .optional(statement?.appVersion))
        object.append("signed_at", .optional(statement?.signedAt.text))
        object.append("refusal", .optional(examination.refusal?.code))
        object.append("refusal_detail", .optional(examination.refusal?.description))
        object.append("retryable", .bool(examination.refusal?.cure == .time))
        object.append("checks", .array(examination.checks.map(check)))
        object.append("purchases", .array((statement?.purchases ?? []).map(purchase)))
        if let head = statement?.notification {
            object.append(
                "notification",
                [
                    "id": .string(head.id), "type": .string(head.type),
                    "subtype": .optional(head.subtype),
                ])
        }
        if let members = statement?.members { object.append("stated", .object(members)) }
        return .object(object)
    }

    private func check(_ check: Check) -> JSON {
        [
            "name": .string(check.name.rawValue), "passed": check.passed.map(JSON.bool) ?? .null,
            "detail": .string(check.detail),
        ]
    }

    private func purchase(_ purchase: StatedPurchase) -> JSON {
        [
            "product": .string(purchase.product.text),
            "transaction": .string(purchase.transaction.text),
            "original_transaction": .string(purchase.original.text),
            "purchased_at": .string(purchase.purchasedAt.text),
            "original_purchased_at": .optional(purchase.originallyPurchasedAt?.text),
            "expires_at": .optional(purchase.expiresAt?.text),
            "cancelled_at": .optional(purchase.cancelledAt?.text),
            "quantity": .integer(purchase.quantity),
        ]
    }

    var text: String {
        var lines = [headline]
        if let statement = examination.statement {
            lines.append("  app          \(visible(statement.app?.text ?? "not named"))")
            lines.append("  environment  \(visible(statement.environmentName))")
            lines.append("  signed at    \(statement.signedAt.text)")
        }
        lines += ["", "Checks"]
        lines += examination.checks.map { check in
            let mark = check.passed.map { $0 ? "passed" : "FAILED" } ?? "-     "
            let name = check.name.rawValue
            let space = String(repeating: " ", count: max(1, 15 - name.utf8.count))
            return "  \(mark)  \(name)\(space)\(visible(check.detail))"
        }
        let purchases = examination.statement?.purchases ?? []
        if !purchases.isEmpty { lines += ["", "Purchases"] + purchases.flatMap(describe) }
        return lines.joined(separator: "\n")
    }

    private var headline: String {
        let kind = examination.kind?.word ?? "unknown evidence"
        guard let refusal = examination.refusal else { return "Believed: \(kind)" }
        return "Refused (\(refusal.code)): \(kind): \(visible(refusal.description))"
    }

    private func describe(_ purchase: StatedPurchase) -> [String] {
        var first = "  \(visible(purchase.product.text))"
        if purchase.quantity != 1 { first += " x \(purchase.quantity)" }
        var second = "    transaction \(visible(purchase.transaction.text))"
        if purchase.original != purchase.transaction {
            second += " of \(visible(purchase.original.text))"
        }
        var third = "    purchased \(purchase.purchasedAt.text)"
        if let expiry = purchase.expiresAt { third += ", expires \(expiry.text)" }
        if let end = purchase.cancelledAt { third += ", cancelled \(end.text)" }
        return [first, second, third]
    }

    /// Returns the text with visible control characters. Evidence may come from strangers, whose control characters
    /// must not reach a terminal.
    private func visible(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isControl =
                        scalar.properties.generalCategory == .control
                        || scalar.properties.generalCategory == .format
                    return isControl ? "\u{FFFD}" : scalar
                }))
    }
}
