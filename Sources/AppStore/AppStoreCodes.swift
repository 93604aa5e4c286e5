package import Core

extension StoreCodes {
    package static let apple = StoreCodes(noAddress: 4_040_007, testUnknown: 4_040_008)
}
