package import Core

extension StoreCodes {
    package static let apple = StoreCodes(
        noAddress: 4_040_007, testUnknown: 4_040_008,
        purchaseUnknown: [4_040_001, 4_040_005, 4_040_010])
}
