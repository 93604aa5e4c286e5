package import Core

/// The length of the store's periods: as in the calendar, or shortened as in a sandbox.
package struct Pace: Hashable, Sendable, Codable {
    /// The length of a month in milliseconds; `nil` for calendar months.
    package let month: Int64?

    package static let calendar = Pace(month: nil)
    /// The sandbox's default.
    package static let sandbox = Pace(month: 5 * 60_000)

    package init(month: Int64?) {
        self.month = month
    }

    /// Parses `calendar` or the length of a month, such as `5m`.
    package init?(_ text: String) {
        if text == "calendar" {
            self = .calendar
            return
        }
        guard let length = Wait(text), length.milliseconds >= 1000 else { return nil }
        self.init(month: length.milliseconds)
    }

    package func end(of wait: Wait, after start: Instant) -> Instant {
        guard let month else { return wait.end(after: start) }
        guard let duration = wait.duration else { return start }
        let (whole, rest) = (duration.months * month, duration.days * month / 30)
        let clock = duration.milliseconds / 1000 * month / (30 * 86_400)
        return start.advanced(byMilliseconds: max(1, whole + rest + clock))
    }

    func end(ofDays days: Int64, after start: Instant) -> Instant {
        end(of: Wait(days: days), after: start)
    }

    /// Returns the usual duration, scaled by the length of this pace's month relative to thirty days.
    func milliseconds(_ usual: Int64) -> Int64 {
        guard let month else { return usual }
        return max(1, usual / 1000 * month / (30 * 86_400))
    }
}

/// A duration in one of these formats: `40d`, `12h`, `1mo`, `1y`, `0d`, or `P40D` as in ISO 8601.
package struct Wait: Hashable, Sendable, Codable {
    package let text: String
    /// `nil` means a duration of zero.
    let duration: CalendarDuration?

    package init?(_ text: String) {
        self.text = text
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty else {
            guard let duration = CalendarDuration(text) else { return nil }
            self.duration = duration
            return
        }
        let isoText: String
        switch text.dropFirst(digits.count) {
        case "y": isoText = "P\(digits)Y"
        case "mo": isoText = "P\(digits)M"
        case "w": isoText = "P\(digits)W"
        case "d": isoText = "P\(digits)D"
        case "h": isoText = "PT\(digits)H"
        case "m": isoText = "PT\(digits)M"
        case "s": isoText = "PT\(digits)S"
        default: return nil
        }
        let isNothing = digits.allSatisfy { $0 == "0" }
        duration = CalendarDuration(isoText)
        if duration == nil, !isNothing { return nil }
    }

    init(days: Int64) {
        text = "\(days)d"
        duration = days > 0 ? .days(days) : nil
    }

    package func end(after start: Instant) -> Instant { duration?.end(after: start) ?? start }

    /// The duration in milliseconds, with thirty days for every month.
    var milliseconds: Int64 {
        guard let duration else { return 0 }
        return (duration.months * 30 + duration.days) * 86_400_000 + duration.milliseconds
    }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let wait = Wait(text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "is \"\(text)\"; write a length like 40d, 12h or P1M"))
        }
        self = wait
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension Instant {
    /// Whether the duration goes beyond the last year that dates can express.
    var isAfterDates: Bool { milliseconds >= 253_402_300_800_000 }
}

extension Instant: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self.init(milliseconds: number)
            return
        }
        let text = try container.decode(String.self)
        guard let instant = Instant(text: text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "is \"\(text)\"; write an instant like 2026-11-20T19:21:00Z"))
        }
        self = instant
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension ProductKind: Codable {}
