package import Core
import Foundation

/// Settings that can be changed when a store starts.
extension PracticeWorld {
    /// Makes the clock advance in step with the machine's clock.
    package mutating func runWithMachine() { clockOffset = 0 }

    /// Sets the address to which notifications are posted.
    package mutating func send(to url: String) { shop.app.notificationURL = url }

    /// Resumes the store after a stop, with the current content of the shop file.
    package mutating func takeUp(
        _ shop: Shop, pace: Pace?, clock: Instant?, seed: UInt64?
    ) throws(PracticeError) {
        let url = self.shop.app.notificationURL
        self.shop = shop
        self.shop.app.notificationURL = shop.app.notificationURL ?? url
        if let pace, pace != self.pace {
            throw .refused("this store has a different pace; start in a new folder to change it")
        }
        if let seed, seed != self.seed {
            throw .refused("this store has a different seed; start in a new folder to change it")
        }
        if clock != nil, clockOffset != nil {
            throw .refused(
                "this store follows the real clock; for a test clock, start a store in a new folder"
            )
        }
    }
}

extension Shop {
    /// Returns whether notifications can be sent to that address.
    package static func isAddress(_ text: String) -> Bool {
        guard let parts = URLComponents(string: text), let host = parts.host else { return false }
        return ["http", "https"].contains(parts.scheme) && !host.isEmpty
    }

    package static let addressHint =
        "give the address for Deed's notifications, such as "
        + "http://127.0.0.1:8080/v1/stores/apple/notifications"

    /// The shop in the format of the shop file, for people to edit.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(self)) ?? Data()
        return String(decoding: data, as: UTF8.self) + "\n"
    }
}
