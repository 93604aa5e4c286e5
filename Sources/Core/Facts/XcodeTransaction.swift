/// Xcode numbers transactions from 0 on each developer's machine, and starts again after each
/// reset. To be unique, the ids of these transactions include the signer and the time of purchase:
/// `xcode-1a2b3c4d-1697679936-2`.
extension Identifier<TransactionKind> {
    fileprivate static var xcodePrefix: String { "xcode-" }

    package init(
        ofXcode number: TransactionID, signer: String, second: Int64
    ) throws(InvalidIdentifier) {
        try self.init("\(TransactionID.xcodePrefix)\(signer)-\(second)-\(number)")
    }

    /// Whether the transaction was created on a developer's machine. Ids assigned by the store
    /// itself are numbers.
    package var isOfXcode: Bool { text.hasPrefix(TransactionID.xcodePrefix) }

    /// The id that the app on the device uses for the transaction.
    package var onDevice: String {
        isOfXcode
            ? String(text.split(separator: "-", maxSplits: 3).last ?? "") : text
    }
}

/// Xcode gives the account the id "0" on every developer's machine, so the id includes the signer:
/// `xcode-1a2b3c4d-0`.
extension Identifier<AppTransactionKind> {
    package init(
        ofXcode number: AppTransactionID, signer: String
    ) throws(InvalidIdentifier) {
        try self.init("\(TransactionID.xcodePrefix)\(signer)-\(number)")
    }
}
