package import Core
internal import Crypto
internal import JSON

/// Apple's kinds of evidence.
extension EvidenceKind {
    package static let appReceipt = EvidenceKind(.apple, "app_receipt", by: .signatureOrWord)
    package static let signedTransaction = EvidenceKind(.apple, "signed_transaction")
    package static let renewalInfo = EvidenceKind(.apple, "renewal_info", namesApp: false)
    package static let appTransaction = EvidenceKind(.apple, "app_transaction", .installation)
    package static let notification = EvidenceKind(.apple, "notification", .news)
    package static let verifyReceiptReply = EvidenceKind(
        .apple, "verify_receipt_reply", by: .connection)

    package static let apple = [
        appReceipt, signedTransaction, renewalInfo, appTransaction, notification,
        verifyReceiptReply,
    ]
}

extension EvidenceKind {
    /// Returns the kind that `bytes` appear to be, or `nil` if they do not look like any kind. A match proves nothing.
    package static func detect(_ bytes: [UInt8]) -> EvidenceKind? {
        guard let first = bytes.first(where: { !isSpace($0) }) else { return nil }
        if bytes[0] == 0x30 { return .appReceipt }
        // An iOS 6 receipt counts as an app receipt, which leads to a precise refusal.
        if ReceiptFrame.isTransactionReceipt(bytes) { return .appReceipt }
        if first == UInt8(ascii: "{") { return detectJSON(bytes) }
        if bytes.contains(UInt8(ascii: ".")) { return detectSigned(bytes) }
        return Base64.standard.holds(first) ? .appReceipt : nil
    }

    private static func detectJSON(_ bytes: [UInt8]) -> EvidenceKind? {
        guard let body = try? JSON.read(bytes) else {
            // Guesses which kind the malformed JSON was meant to be, so that its error is reported for that kind.
            let start = String(decoding: bytes.prefix(32), as: UTF8.self)
            return start.contains("\"signedPayload\"") ? .notification : .verifyReceiptReply
        }
        if body["signedPayload"] != nil { return .notification }
        if body["package"] != nil, body["token"] != nil {
            return EvidenceKind.play.first { $0.word == body["kind"]?.string } ?? .playToken
        }
        return body["status"] != nil ? .verifyReceiptReply : nil
    }

    private static func detectSigned(_ bytes: [UInt8]) -> EvidenceKind {
        guard let members = try? SignedJSON(bytes).members() else { return .signedTransaction }
        return EvidenceKind(ofSigned: members.object)
    }

    /// Distinguishes the kinds by their members, because the store signs all of them with the same certificates.
    init(ofSigned members: JSONObject) {
        if members["notificationType"] != nil || members["notificationUUID"] != nil {
            self = .notification
        } else if members["autoRenewStatus"] != nil || members["autoRenewProductId"] != nil
            || members["originalTransactionId"] != nil && members["transactionId"] == nil
                && members["purchaseDate"] == nil
        {
            // Renewal info is the only kind without a transaction. This check also recognizes renewal info that lacks
            // one of its own members.
            self = .renewalInfo
        } else if members["receiptType"] != nil || members["originalApplicationVersion"] != nil {
            self = .appTransaction
        } else {
            self = .signedTransaction
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
