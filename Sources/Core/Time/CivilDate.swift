/// A date and time of day in the proleptic Gregorian calendar, in UTC.
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    package var month: Int64
    package var day: Int64
    package var millisecondOfDay: Int64

    static let millisecondsPerDay: Int64 = 86_400_000

    /// Creates a date from its parts; `nil` if the day or the time of day does not exist.
    package init?(year: Int64, month: Int64, day: Int64, millisecondOfDay: Int64) {
        // Later years do not fit into 64 bits of milliseconds.
        guard (-293_000_000...293_000_000).contains(year), (1...12).contains(month),
            (1...CivilDate.days(inMonth: month, of: year)).contains(day),
            (0..<CivilDate.millisecondsPerDay).contains(millisecondOfDay)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.millisecondOfDay = millisecondOfDay
    }

    package init(_ instant: Instant) {
        let perDay = CivilDate.millisecondsPerDay
        let days = instant.milliseconds.flooredQuotient(by: perDay)
        // This wraps around only on the first representable day. The result is still correct there.
        millisecondOfDay = instant.milliseconds &- days &* perDay
        // If years start on 1 March, counted from 1 March 0000, the leap day ends the year and
        // needs no special treatment.
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The instant of this date, clamped to the range of `Instant`.
    package var instant: Instant {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear.flooredQuotient(by: 400)
        let yearOfEra = marchYear - era * 400
        let marchMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        // Rounding towards zero keeps the first representable day within 64 bits.
        let isPast = days < 0
        let (product, overflow) = (isPast ? days + 1 : days).multipliedReportingOverflow(
            by: CivilDate.millisecondsPerDay)
        if overflow { return isPast ? .distantPast : .distantFuture }
        return Instant(milliseconds: product).advanced(
            byMilliseconds: isPast
                ? millisecondOfDay - CivilDate.millisecondsPerDay : millisecondOfDay)
    }

    package static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    package static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// Returns the quotient rounded down, so that days before 1970 are also whole days.
    func flooredQuotient(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
