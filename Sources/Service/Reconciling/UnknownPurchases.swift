import Core

/// Purchases that stores claimed not to know during a step. Stores also say this about purchases of
/// another app or environment. The claim is therefore accepted only if the store knows another
/// purchase in that app and environment, or was asked about only one.
struct UnknownPurchases {
    private struct Books: Hashable {
        let app: AppKey
        let environment: Environment
    }
    private var knowing: Set<Books> = []
    private var unknown: [Books: [StorePurchase]] = [:]

    mutating func learnKnown(_ place: StorePurchase) {
        knowing.insert(Books(app: place.app.key, environment: place.environment))
    }

    mutating func learnUnknown(_ place: StorePurchase) {
        let books = Books(app: place.app.key, environment: place.environment)
        unknown[books, default: []].append(place)
    }

    /// Returns the app's purchases that the store does not know, if the store's claim is accepted.
    func believed(of app: AppKey) -> [StorePurchase] {
        unknown.filter { $0.key.app == app && isBelieved($0.key) }.flatMap(\.value)
    }

    /// Returns the number of other purchases that the store claimed not to know. These claims show only that
    /// something is wrong.
    func doubted(of app: AppKey) -> Int {
        unknown.filter { $0.key.app == app && !isBelieved($0.key) }.reduce(0) {
            $0 + $1.value.count
        }
    }

    private func isBelieved(_ books: Books) -> Bool {
        knowing.contains(books) || unknown[books]?.count == 1
    }
}

extension StoreRound {
    func noteDoubted(_ unknown: UnknownPurchases, of app: App) {
        let count = unknown.doubted(of: app.key)
        if count == 0 { return }
        note(
            "purchases_unknown",
            "The store knows none of the \(count) purchases that Deed asked about. Check that the key is "
                + "for this app; Deed will ask about the purchases again.", of: app.key.id.text)
    }
}
