internal import Core
internal import JSON

extension PlayAnswer {
    /// Returns the contents that the answer states, and whether the purchase is a test purchase.
    func contents() throws(EvidenceRefusal) -> (contents: Contents, isTest: Bool) {
        switch kind {
        case .playSubscription:
            let statement = try PlaySubscriptionStatement(answer: body)
            return (
                try contents(statement.reading(of: self), statement.isTest, .autoRenewable) {
                    fact in
                    fact.accountToken =
                        statement.accounts?.account ?? statement.comesBack?.accounts?.account
                }, statement.isTest
            )
        case .playPurchase:
            let statement = try PlayPurchaseStatement(answer: body)
            return (try contents(statement), statement.isTest)
        default:
            guard let product else { throw .invalidMember("product") }
            let statement = try PlayPurchaseStatement(oldAnswer: body, about: product.text)
            return (try contents(statement), statement.isTest)
        }
    }

    private func contents(
        _ statement: PlayPurchaseStatement
    ) throws(EvidenceRefusal) -> Contents {
        let isRented = statement.items.contains(where: \.isRented)
        return try contents(
            statement.reading(of: self), statement.isTest, isRented ? .nonRenewing : nil
        ) { $0.accountToken = statement.accounts?.account }
    }

    private func contents(
        _ reading: Reading?, _ isTest: Bool, _ kind: ProductKind?,
        _ complete: (inout TransactionFact) -> Void
    ) throws(EvidenceRefusal) -> Contents {
        var contents = Contents()
        contents.members = try PlayMembers(body).object
        guard let reading else { return contents }
        if !reading.isKnown { contents.unread = [self.kind] }
        var fact = fact(reading, isTest, kind)
        complete(&fact)
        contents.facts.transactions = [fact]
        return contents
    }

    /// Returns the fact about the first item in the answer, with the reading of the whole answer.
    private func fact(
        _ reading: Reading, _ isTest: Bool, _ kind: ProductKind?
    ) -> TransactionFact {
        let main = reading.mainItem
        var fact = TransactionFact(
            store: .google, environment: isTest ? .sandbox : .production, app: app,
            transaction: main?.order ?? reading.tokenName, original: root ?? reading.tokenName,
            product: main?.product ?? .ofNothing, purchased: reading.startedAt ?? readAt,
            signedAt: readAt, rank: .serverAPI)
        if reading.isOfGoods {
            fact.transaction = TransactionID(ofToken: reading.tokenName, fact.product)
            fact.lineItem = main?.order?.text
        }
        fact.kind = kind
        fact.expires = main?.expires
        fact.quantity = main?.quantity ?? 1
        fact.offer = main?.offer
        fact.price = main?.price
        fact.reading = reading
        return fact
    }

    var name: TransactionID { TransactionID(playToken: token) }
}

extension Reading {
    /// Whether the reading is about one-time products.
    fileprivate var isOfGoods: Bool { state == .purchased || state == .takenBack }
}

extension PlaySubscriptionStatement {
    /// Returns the reading, or `nil` until the purchase has been paid for.
    fileprivate func reading(of answer: PlayAnswer) throws(EvidenceRefusal) -> Reading? {
        guard let state = readState else { return nil }
        var items: [Reading.Item] = []
        for item in self.items { items.append(try item.item) }
        var reading = Reading(
            token: answer.token, name: answer.name, state, startedAt: startedAt,
            items: items.showingWhatComes)
        let older = linkedToken ?? comesBack?.token
        reading.continues = older.flatMap { $0 == answer.token ? nil : $0 }
            .map { TransactionID(playToken: $0) }
        reading.ending = cancellation?.ending
        if case .user(let at) = cancellation { reading.cancelledAt = at }
        reading.resumesAt = resumesAt
        reading.declinedOrder = declinedOrder
        reading.isAcknowledged = isAcknowledged
        reading.mark = entityTag
        reading.region = region
        reading.profile = accounts?.profile
        reading.linkedAccount = accounts?.linked
        reading.comesBack = comesBack.map {
            Reading.Return(
                token: $0.token, account: $0.accounts?.account, profile: $0.accounts?.profile,
                linkedAccount: $0.accounts?.linked)
        }
        return reading
    }

    private var readState: Reading.State? {
        switch state {
        case .pending, .pendingPurchaseCanceled: nil
        case .active: .active
        case .inGracePeriod: .grace
        case .onHold: .onHold
        case .paused: .paused
        case .canceled: .cancelled
        case .expired: .expired
        case .unknown(let word): .unknown(.text(word))
        }
    }
}

extension PlaySubscriptionStatement.Cancellation {
    fileprivate var ending: Reading.Ending {
        switch self {
        case .user: .byCustomer
        case .system: .bySystem
        case .developer: .byDeveloper
        case .replacement: .replaced
        }
    }
}

extension [Reading.Item] {
    /// The items. If exactly one owned item does not renew and exactly one product is not owned
    /// yet, that product is the item's next one.
    fileprivate var showingWhatComes: [Reading.Item] {
        let waiting = filter { !$0.isOwned && $0.willRenew }
        guard waiting.count == 1, let next = waiting.first?.product else { return self }
        let ending = indices.filter { self[$0].isOwned && !self[$0].willRenew }
        guard ending.count == 1, self[ending[0]].nextProduct == nil, !self[ending[0]].isRemoved
        else { return self }
        var items = self
        items[ending[0]].nextProduct = next
        return items
    }
}

extension PlayItemStatement {
    fileprivate var item: Reading.Item {
        get throws(EvidenceRefusal) {
            let order: TransactionID? = try self.order.map { text throws(EvidenceRefusal) in
                try text.order(in: "latestSuccessfulOrderId")
            }
            var item = Reading.Item(
                try product.name(in: "productId"), order: order, isOwned: order != nil,
                expires: expiresAt)
            (item.basePlan, item.isRemoved) = (basePlan, isRemoved)
            item.nextProduct = try replacedBy.map { text throws(EvidenceRefusal) in
                try text.name(in: "deferredItemReplacement.productId")
            }
            item.offer = phase.flatMap { terms(of: $0) }
            switch plan {
            case .autoRenewing(let renewal): item.read(renewal)
            case .prepaid: item.isPrepaid = true
            case .unknown: break
            }
            return item
        }
    }

    /// Returns the offer in a phase, or `nil` for the base price.
    private func terms(of phase: Phase) -> Offer? {
        var terms: Offer
        switch phase {
        case .freeTrial: terms = Offer(kind: .introductory, discount: .freeTrial)
        case .introductoryPrice: terms = Offer(kind: .introductory, discount: .payAsYouGo)
        case .basePrice, .proration, .unknown: return nil
        }
        terms.identifier = offer
        return terms
    }
}

extension Reading.Item {
    fileprivate mutating func read(_ renewal: PlayRenewal) {
        willRenew = renewal.renews
        price = renewal.price?.price
        instalments = renewal.instalments.map {
            Reading.Instalments(
                payments: $0.initialPayments, paymentsLeft: $0.paymentsLeft,
                laterPayments: $0.laterPayments, endsWithCommitment: $0.endsWithCommitment)
        }
        priceConsent = renewal.step?.consent ?? renewal.change?.consent
    }
}

extension PlayRenewal.PriceStep {
    fileprivate var consent: PriceConsent? { state.map(PriceConsent.init(ofStep:)) }
}

extension PlayRenewal.PriceChange {
    /// The customer's consent to a price increase; `nil` for changes that do not need consent.
    fileprivate var consent: PriceConsent? {
        mode == "PRICE_INCREASE" ? state.map(PriceConsent.init(ofChange:)) : nil
    }
}

extension PriceConsent {
    fileprivate init(ofStep word: String) {
        switch word {
        case "PENDING", "CONSENT_STATE_PENDING": self = .pending
        case "CONFIRMED", "COMPLETED", "CONSENT_STATE_CONFIRMED", "CONSENT_STATE_COMPLETED":
            self = .given
        default: self = .unknown(.text(word))
        }
    }

    fileprivate init(ofChange word: String) {
        switch word {
        case "OUTSTANDING": self = .pending
        case "CONFIRMED", "APPLIED": self = .given
        default: self = .unknown(.text(word))
        }
    }
}

extension PlayPurchaseStatement {
    /// Returns the reading, or `nil` until the purchase has been paid for, which may never happen.
    fileprivate func reading(of answer: PlayAnswer) throws(EvidenceRefusal) -> Reading? {
        let state: Reading.State
        switch self.state {
        case .pending: return nil
        case .cancelled where purchasedAt == nil: return nil
        case .purchased: state = .purchased
        case .cancelled: state = .takenBack
        case .unknown(let word): state = .unknown(.text(word))
        }
        let order: TransactionID? = try self.order.map { text throws(EvidenceRefusal) in
            try text.order(in: "orderId")
        }
        var items: [Reading.Item] = []
        for item in self.items { items.append(try item.item(of: order)) }
        var reading = Reading(
            token: answer.token, name: answer.name, state, startedAt: purchasedAt, items: items)
        reading.isAcknowledged = isAcknowledged
        reading.region = region
        reading.profile = accounts?.profile
        return reading
    }
}

extension PlayPurchaseStatement.Item {
    fileprivate func item(of order: TransactionID?) throws(EvidenceRefusal) -> Reading.Item {
        var item = Reading.Item(
            try product.name(in: "productId"), order: order, isOwned: true, expires: nil)
        (item.quantity, item.refundable) = (quantity, refundableQuantity)
        (item.isConsumed, item.isRented) = (isConsumed, isRented)
        (item.isOrderedInAdvance, item.releasedAt) = (isOrderedInAdvance, releasedAt)
        return item
    }
}

extension PlayMoney {
    fileprivate var price: Price {
        let (whole, overflow) = units.multipliedReportingOverflow(by: 1000)
        let milliunits = whole.addingReportingOverflow(nanos / 1_000_000)
        return Price(
            milliunits: overflow || milliunits.overflow ? .max : milliunits.partialValue,
            currency: currency)
    }
}

extension String {
    /// Returns the order's id. It must be short, because the ids of purchases with several products
    /// also contain the product.
    fileprivate func order(in member: String) throws(EvidenceRefusal) -> TransactionID {
        if utf8.count > 100 { throw .invalidMember(member) }
        return try name(in: member)
    }

    fileprivate func name<Kind>(in member: String) throws(EvidenceRefusal) -> Identifier<Kind> {
        guard let id = try? Identifier<Kind>(self) else { throw .invalidMember(member) }
        return try id.short(in: member)
    }
}
