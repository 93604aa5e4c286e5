/// Xcode numbers transactions from 0 on each developer's machine, and again after each reset. So the ids
/// of its transactions include the signer and the time of purchase: `xcode-1a2b3c4d-1697679936-2`.
extension Identifier<TransactionKind> {
    fileprivate static var xcodePrefix: String { "xcode-" }

    package init(
        ofXcode number: TransactionID, signer: String, second: Int64
    ) throws(InvalidIdentifier) {
        try self.init("\(TransactionID.xcodePrefix)\(signer)-\(second)-\(number)")
    }

    /// Whether a developer's machine made it. The store's own ids are numbers.
    package var isOfXcode: Bool { text.hasPrefix(TransactionID.xcodePrefix) }

    /// The id as the app on the device knows it.
    package var onDevice: String {
        isOfXcode
            ? String(text.split(separator: "-", maxSplits: 3).last ?? "") : text
    }
}

/// Xcode gives each developer's machine the account "0", so the id includes the signer:
/// `xcode-1a2b3c4d-0`.
extension Identifier<AppTransactionKind> {
    package init(
        ofXcode number: AppTransactionID, signer: String
    ) throws(InvalidIdentifier) {
        try self.init("\(TransactionID.xcodePrefix)\(signer)-\(number)")
    }
}
