package enum AppStoreCodes {
    /// No URL for notifications is entered.
    package static let noAddress: Int64 = 4_040_007
    package static let testUnknown: Int64 = 4_040_008
}
