package import Core

/// The addresses of Apple's services.
package struct StoreHosts: Sendable {
    let api: [Environment: String]
    let receipts: [Environment: String]
    /// The environments to ask, in order, if a call names none.
    let order: [Environment]

    package static let apple = StoreHosts(
        api: [
            .production: "https://api.storekit.apple.com",
            .sandbox: "https://api.storekit-sandbox.apple.com",
        ],
        receipts: [
            .production: "https://buy.itunes.apple.com/verifyReceipt",
            .sandbox: "https://sandbox.itunes.apple.com/verifyReceipt",
        ], order: [.production, .sandbox])

    package init(
        api: [Environment: String], receipts: [Environment: String], order: [Environment]
    ) {
        self.api = api
        self.receipts = receipts
        self.order = order
    }

    /// A store on this machine counts as the sandbox, whatever environment it reports.
    init(_ address: StoreAddress) {
        self.init(
            api: [.sandbox: address.url],
            receipts: [.sandbox: "\(address.url)/verifyReceipt"], order: [.sandbox])
    }

    /// Returns the environments to ask for this call, in order.
    func environments(_ wanted: Environment?, for call: StoreCall) -> [Environment] {
        if order == [.sandbox] { return order }
        if let wanted { return [wanted] }
        return call.transaction == nil ? Array(order.prefix(1)) : order
    }
}
