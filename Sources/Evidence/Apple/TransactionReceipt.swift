internal import Core
internal import Crypto

/// The receipt that iOS 6 issued for a single purchase: an old-style property list, `"name" = "value";`. Only the store
/// can tell whether it is genuine. This type only finds the app and the environment.
struct TransactionReceipt {
    private static let byteLimit = 1 << 16

    let app: AppID
    let environment: Environment

    /// Returns the property list itself, if the bytes contain one in plain text or in base64.
    static func list(in bytes: [UInt8]) -> [UInt8]? {
        if ReceiptFrame.isTransactionReceipt(bytes) { return bytes }
        // Avoids decoding an app receipt, in binary or base64, only to find that it is not a list.
        let isReceipt = bytes.first == BERTag.sequence || bytes.first == UInt8(ascii: "M")
        guard !isReceipt, let decoded = Base64.standard.decode(bytes),
            ReceiptFrame.isTransactionReceipt(decoded)
        else { return nil }
        return decoded
    }

    init(_ list: [UInt8]) throws(EvidenceRefusal) {
        if list.count > TransactionReceipt.byteLimit {
            throw .tooLarge(limit: TransactionReceipt.byteLimit)
        }
        let outer = TransactionReceipt.members(of: list)
        guard let info = outer["purchase-info"],
            let bytes = Base64.standard.decode(Array(info.utf8)),
            let name = TransactionReceipt.members(of: bytes)["bid"], let app = try? AppID(name)
        else { throw .invalidMember("bid") }
        let environmentName = outer["environment"] ?? "Production"
        guard let environment = Environment(appleName: environmentName) else {
            throw .unknownEnvironment(environmentName)
        }
        self.app = app
        self.environment = environment
    }

    /// Returns the quoted strings as pairs of names and values.
    private static func members(of list: [UInt8]) -> [String: String] {
        let texts = list.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
            .enumerated().filter { $0.offset % 2 == 1 }
            .map { String(decoding: $0.element, as: UTF8.self) }
        var members: [String: String] = [:]
        for place in stride(from: 0, to: texts.count - 1, by: 2) {
            members[texts[place]] = texts[place + 1]
        }
        return members
    }
}
