import Core
import Glibc
import JSON
import Minting

/// Writes a store's signed statements about many sales: the root to trust in `root.pem`, and one
/// line for each transaction and each notification. Their common header goes to `header` and is
/// left out of the lines. Load tests use these statements because they must not include the cost of
/// signing.
func mintEvidence(_ options: BenchOptions) -> Int32 {
    guard let folder = options["--folder"], let count = options["--count"].flatMap(Int.init) else {
        complain("mint needs --folder and --count")
        return 2
    }
    let chain = MintedChain.transactions
    write("\(folder)/root.pem", [pem(chain.root.der)])
    let header = chain.transactionHeader
    write("\(folder)/header", [header])
    write("\(folder)/forgeable", [chain.headerEnd])
    let numbers = 1_000_000_000..<1_000_000_000 + count
    let isApart = options["--apart"] == "yes"
    write(
        "\(folder)/transactions",
        numbers.lazy.map { tail(of: transaction($0, chain, isApart: isApart), header) })
    let news = numbers.lazy.map { number in
        tail(of: notification(number + 1_000_000_000, chain), header)
    }
    write("\(folder)/notifications", news)
    return 0
}

/// Returns the transaction of a sale. If `isApart` is true, the transaction's id differs from its
/// purchase's id, and each transaction belongs to a different account.
private func transaction(
    _ number: Int, _ chain: MintedChain, isApart: Bool = false
) -> String {
    var payload = Payload.transaction
    payload["transactionId"] = .string(isApart ? "7\(number)" : "\(number)")
    if isApart { payload["appTransactionId"] = .string("704\(number)") }
    payload["originalTransactionId"] = .string("\(number)")
    payload["webOrderLineItemId"] = .string("9\(number)")
    payload["appAccountToken"] = nil
    return payload.signed(by: chain)
}

private func notification(_ number: Int, _ chain: MintedChain) -> String {
    var payload = Payload.notification(transaction: transaction(number, chain), renewal: nil)
    payload["notificationUUID"] = .string("notification-\(number)")
    return payload.signed(by: chain)
}

extension MintedChain {
    /// The end of a header with this chain, in base64. It can follow any number of complete
    /// three-byte groups. Each different beginning gives a header that Deed has not seen before.
    fileprivate var headerEnd: String {
        Array(SignedJSONPlan(.object(JSONObject()), chain: self).header.bytes.dropFirst())
            .base64URL
    }

    /// The header of everything that this chain signs.
    fileprivate var transactionHeader: String {
        SignedJSONPlan(.object(JSONObject()), chain: self).header.bytes.base64URL
    }
}

private func tail(of text: String, _ header: String) -> String {
    precondition(text.hasPrefix(header + "."), "the header is the same for all")
    return String(text.dropFirst(header.utf8.count + 1))
}

private func pem(_ der: [UInt8]) -> String {
    "-----BEGIN CERTIFICATE-----\n\(der.base64)\n-----END CERTIFICATE-----"
}

private func write(_ path: String, _ lines: some Sequence<String>) {
    guard let file = fopen(path, "w") else {
        complain("\(path) cannot be written")
        exit(3)
    }
    defer { fclose(file) }
    for line in lines {
        fputs(line, file)
        fputs("\n", file)
    }
}
