internal import Core
internal import Crypto
internal import Evidence
internal import HTTPServer
internal import JSON
internal import Minting

/// The call with which old back ends verify receipts.
struct VerifyReceipt: Sendable {
    let store: PracticeStore
    private let verifier: Verifier

    init(_ store: PracticeStore) throws(PracticeError) {
        self.store = store
        do {
            let root = try Certificate(der: store.authority.receipts.root.der)
            // This store trusts its own root instead of Apple's.
            verifier = Verifier(anchors: [TrustAnchor(root, .pinned)])
        } catch {
            throw .broken("the root of receipts cannot be read: \(error)")
        }
    }

    /// `isProduction` marks a call to production's address, where this store's receipts do not belong.
    func answer(_ call: Call, isProduction: Bool) -> Response {
        if call.method != "POST" { return status(21_000) }
        guard let json = try? JSON.read(call.body), let text = json["receipt-data"]?.string,
            let bytes = Base64.standard.decode(Array(text.utf8))
        else { return status(21_002) }
        let app = store.read { $0.shop.app }
        guard let id = try? AppID(app.bundleID) else { return status(21_009) }
        let trusted = TrustedApp(
            id: id, appleID: nil, environments: Set(Environment.allCases))
        let facts: Facts
        do throws(EvidenceRefusal) {
            let terms = Terms(apps: [trusted], now: .distantFuture, rank: .offlineReceipt)
            facts = try verifier.verify(bytes, as: .appReceipt, on: terms).facts
        } catch {
            let ofProof: Set<Check.Name> = [.chain, .validity, .signature, .bundleID]
            return status(ofProof.contains(error.check) ? 21_003 : 21_002)
        }
        if isProduction { return status(21_007) }
        let password = json["password"]?.string
        let isNeeded = facts.transactions.contains { $0.expires != nil }
        if isNeeded || password != nil, password != app.sharedSecret { return status(21_004) }
        return store.read { world in
            let sales = facts.transactions.compactMap { world.sale($0.transaction.text) }
            let customer = sales.first?.customer
            let excludesOld = json["exclude-old-transactions"]?.bool ?? false
            return Response(
                json: world.verifyReceiptReply(
                    of: customer, excludesOld: excludesOld, by: store.authority))
        }
    }

    private func status(_ number: Int64) -> Response {
        var object = JSONObject()
        if number != 21_002 { object.append("environment", "Sandbox") }
        object.append("status", .integer(number))
        return Response(json: .object(object))
    }
}
