internal import Core
internal import Crypto

/// The numbers of the receipt attributes that Deed reads. All others are skipped.
private enum AppAttribute {
    static let environment: Int64 = 0
    static let appleID: Int64 = 1
    static let bundleID: Int64 = 2
    static let appVersion: Int64 = 3
    static let opaque: Int64 = 4
    static let deviceHash: Int64 = 5
    static let createdAt: Int64 = 12
    static let purchase: Int64 = 17
    static let originallyPurchased: Int64 = 18
    static let originalVersion: Int64 = 19
    static let expires: Int64 = 21
}

private enum PurchaseAttribute {
    static let quantity: Int64 = 1701
    static let product: Int64 = 1702
    static let transaction: Int64 = 1703
    static let purchased: Int64 = 1704
    static let original: Int64 = 1705
    static let originallyPurchased: Int64 = 1706
    static let kind: Int64 = 1707
    static let expires: Int64 = 1708
    static let lineItem: Int64 = 1711
    static let cancelled: Int64 = 1712
    static let isTrial: Int64 = 1713
    static let isIntroductory: Int64 = 1719
    static let promotion: Int64 = 1721
}

/// The attributes of a receipt, or of one purchase in it, by number. Their values are still encoded.
private struct Attributes {
    private(set) var values: [(number: Int64, value: ByteRange)] = []
    private(set) var purchases: [ByteRange] = []

    /// Reads a SET of attributes, which may come in any order.
    init(_ source: ByteRange) throws(EvidenceRefusal) {
        do throws(BERFault) {
            var outer = BERReader(source)
            var set = outer.inside(try outer.next(BERTag.set))
            try outer.requireEnd()
            while !set.isAtEnd { try add(set.inside(set.next(BERTag.sequence))) }
        } catch {
            throw .badASN1
        }
    }

    private mutating func add(_ attribute: BERReader) throws(BERFault) {
        var attribute = attribute
        let number = try attribute.integer()
        _ = try attribute.integer()
        let value = try attribute.string(BERTag.octets)
        try attribute.requireEnd()
        if number == AppAttribute.purchase {
            purchases.append(value)
        } else if (0...AppAttribute.expires).contains(number) || (1701...1721).contains(number) {
            // Two values for one attribute would be ambiguous.
            if self[number] != nil { throw .malformed }
            values.append((number, value))
        }
    }

    subscript(number: Int64) -> ByteRange? {
        values.first { $0.number == number }?.value
    }

    /// Reads the ASN.1 value of an attribute. There must be exactly one value.
    private func value<Value>(
        _ number: Int64, _ read: (inout BERReader) throws(BERFault) -> Value
    ) throws(EvidenceRefusal) -> Value? {
        guard let encoded = self[number] else { return nil }
        do throws(BERFault) {
            var reader = BERReader(encoded)
            let value = try read(&reader)
            try reader.requireEnd()
            return value
        } catch {
            throw .badASN1
        }
    }

    /// Returns an attribute's text, or `nil` if the text is empty.
    func text(_ number: Int64) throws(EvidenceRefusal) -> String? {
        let content = try value(number) { (reader) throws(BERFault) -> ByteRange in
            let isIA5 = reader.nextTag.map { $0 & ~BERTag.constructed } == BERTag.ia5Text
            return try reader.string(isIA5 ? BERTag.ia5Text : BERTag.utf8Text)
        }
        guard let content, !content.isEmpty else { return nil }
        guard let text = String(validating: content.array, as: UTF8.self) else { throw .badASN1 }
        guard let text = text.writable else { throw .invalidMember("attribute \(number)") }
        return text
    }

    func integer(_ number: Int64) throws(EvidenceRefusal) -> Int64? {
        try value(number) { (reader) throws(BERFault) in try reader.integer() }
    }

    func instant(_ number: Int64) throws(EvidenceRefusal) -> Instant? {
        guard let text = try text(number) else { return nil }
        guard let instant = Instant(text: text) else { throw .invalidMember("attribute \(number)") }
        return try instant.stated(by: "attribute \(number)")
    }

    func identifier<Kind>(_ number: Int64) throws(EvidenceRefusal) -> Identifier<Kind>? {
        guard let text = try text(number) else { return nil }
        guard let identifier = try? Identifier<Kind>(text) else {
            throw .invalidMember("attribute \(number)")
        }
        return identifier
    }

    func storeName<Kind>(_ number: Int64) throws(EvidenceRefusal) -> Identifier<Kind>? {
        try identifier(number).map { id throws(EvidenceRefusal) in
            try id.short(in: "attribute \(number)")
        }
    }

    func required<Value>(
        _ number: Int64, _ read: (Int64) throws(EvidenceRefusal) -> Value?
    ) throws(EvidenceRefusal) -> Value {
        guard let value = try read(number) else { throw .invalidMember("attribute \(number)") }
        return value
    }
}

/// The content of a receipt.
struct Receipt {
    let statement: StoreStatement<Unverified>
    private let opaque: ByteRange
    private let deviceHash: ByteRange
    /// The bundle id with its ASN.1 header, which the device hash covers.
    private let encodedBundleID: ByteRange

    init(content: ByteRange) throws(EvidenceRefusal) {
        let attributes = try Attributes(content)
        let app: AppID = try attributes.required(
            AppAttribute.bundleID, attributes.identifier)
        let signedAt = try attributes.required(AppAttribute.createdAt, attributes.instant)
        let heading = try Heading(
            kind: .appReceipt, environmentName: attributes.text(AppAttribute.environment),
            app: app, appleID: attributes.integer(AppAttribute.appleID))
        let origin = FactOrigin(environment: heading.environment, app: app, signedAt: signedAt)
        statement = StoreStatement(
            heading, signedAt: signedAt, contents: try Receipt.contents(attributes, origin))
        let none = ByteRange([])
        opaque = attributes[AppAttribute.opaque] ?? none
        deviceHash = attributes[AppAttribute.deviceHash] ?? none
        encodedBundleID = attributes[AppAttribute.bundleID] ?? none
    }

    private static func contents(
        _ attributes: Attributes, _ origin: FactOrigin
    ) throws(EvidenceRefusal) -> Contents {
        var contents = Contents()
        contents.appVersion = try attributes.text(AppAttribute.appVersion)
        contents.licenceEnds = try attributes.instant(AppAttribute.expires)
        if let version = try attributes.text(AppAttribute.originalVersion) {
            contents.facts.apps = [
                AppFact(
                    store: .apple, environment: origin.environment, app: origin.app,
                    originalVersion: version,
                    originallyPurchased: try attributes.instant(AppAttribute.originallyPurchased),
                    signedAt: origin.signedAt, rank: .offlineReceipt)
            ]
        }
        contents.facts.transactions.reserveCapacity(attributes.purchases.count)
        for purchase in attributes.purchases {
            contents.facts.transactions.append(
                try TransactionFact(receipt: Attributes(purchase), origin))
        }
        return contents
    }

    /// Returns whether the receipt was issued to the given device.
    func isFor(_ device: DeviceID) -> Bool {
        let hashed = device.bytes + opaque.array + encodedBundleID.array
        return isEqualInConstantTime(DigestAlgorithm.sha1.digest(hashed), deviceHash.array)
    }
}

/// The properties that all facts from one receipt share.
private struct FactOrigin {
    let environment: Environment
    let app: AppID
    let signedAt: Instant
}

extension TransactionFact {
    /// The dates in a receipt may be in any order, and a receipt may lack cancellations, so nothing
    /// can be inferred from either.
    fileprivate init(
        receipt purchase: Attributes, _ origin: FactOrigin
    ) throws(EvidenceRefusal) {
        typealias Attribute = PurchaseAttribute
        let transaction: TransactionID = try purchase.required(
            Attribute.transaction, purchase.storeName)
        let original: TransactionID? = try purchase.storeName(Attribute.original)
        self.init(
            store: .apple, environment: origin.environment, app: origin.app,
            transaction: transaction, original: original ?? transaction,
            product: try purchase.required(Attribute.product, purchase.identifier),
            purchased: try purchase.required(Attribute.purchased, purchase.instant),
            signedAt: origin.signedAt, rank: .offlineReceipt)
        originallyPurchased = try purchase.instant(Attribute.originallyPurchased)
        expires = try purchase.instant(Attribute.expires)
        kind =
            expires == nil
            ? try purchase.integer(Attribute.kind).flatMap(ProductKind.init(receiptCode:))
            : .autoRenewable
        if let quantity = try purchase.integer(Attribute.quantity) {
            if quantity < 0 { throw .invalidMember("attribute \(Attribute.quantity)") }
            self.quantity = quantity
        }
        revocation = try purchase.instant(Attribute.cancelled).map(Revocation.init(at:))
        // The sandbox writes zero for an unknown number.
        lineItem = try purchase.integer(Attribute.lineItem).flatMap { $0 == 0 ? nil : String($0) }
        offer = try purchase.offer()
    }
}

extension Attributes {
    fileprivate func offer() throws(EvidenceRefusal) -> Offer? {
        if try integer(PurchaseAttribute.isTrial) == 1 {
            return Offer(kind: .introductory, discount: .freeTrial)
        }
        if try integer(PurchaseAttribute.isIntroductory) == 1 {
            return Offer(kind: .introductory)
        }
        guard let promotion = try text(PurchaseAttribute.promotion) else { return nil }
        var offer = Offer(kind: .promotional)
        offer.identifier = promotion
        return offer
    }
}

extension ReceiptFrame {
    func statement() throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        try named(Receipt(content: content).statement)
    }

    fileprivate func named(
        _ statement: StoreStatement<Unverified>
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        try statement.named { () throws(EvidenceRefusal) in try readCertificates().0 }
    }
}

extension Verifier {
    /// The end of SHA-1. Since 25 January 2025, the store signs every receipt entirely with SHA-256.
    private static let endOfSHA1 = Instant(milliseconds: 1_737_763_200_000)

    func verifyReceipt(
        _ bytes: [UInt8], on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        let frame = try ReceiptFrame(bytes)
        let chain = try authenticate(frame)
        let receipt = try Receipt(content: frame.content)
        let statement = try frame.named(receipt.statement)
        let usesSHA1 = chain.usesSHA1 || frame.signer.digest == .sha1
        if usesSHA1, statement.signedAt >= Verifier.endOfSHA1 { throw .weakDigest }
        try terms.require(statement, under: chain)
        if let version = terms.appVersion, version != statement.appVersion {
            throw .versionMismatch
        }
        if let device = terms.device, !receipt.isFor(device) { throw .deviceMismatch }
        try terms.requireLicence(statement)
        return statement.vouched(by: .chain(chain))
    }
}
