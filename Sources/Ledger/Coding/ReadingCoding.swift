import Core
import JSON

extension Reading: PayloadCodable {
    var payload: JSON {
        .members([
            "token": .string(token), "token_name": .id(tokenName), "continues": .id(continues),
            "state": state.payload, "started": .instant(startedAt), "items": .parts(items),
            "ending": .text(ending?.rawValue), "cancelled_at": .instant(cancelledAt),
            "resumes_at": .instant(resumesAt), "declined_order": .text(declinedOrder),
            "acknowledged": .flag(isAcknowledged), "mark": .text(mark), "region": .text(region),
            "profile": .text(profile), "linked_account": .text(linkedAccount),
            "comes_back": comesBack?.payload,
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            token: try payload.text("token"), name: try payload.id("token_name"),
            try payload.part("state"), startedAt: try payload.optionalInstant("started"),
            items: try payload.parts("items"))
        continues = try payload.optionalID("continues")
        ending = try payload.optionalWord("ending")
        cancelledAt = try payload.optionalInstant("cancelled_at")
        resumesAt = try payload.optionalInstant("resumes_at")
        declinedOrder = try payload.optionalText("declined_order")
        isAcknowledged = try payload.flag("acknowledged")
        mark = try payload.optionalText("mark")
        region = try payload.optionalText("region")
        profile = try payload.optionalText("profile")
        linkedAccount = try payload.optionalText("linked_account")
        comesBack = try payload.optionalPart("comes_back")
    }
}

extension Reading.Item: PayloadCodable {
    var payload: JSON {
        .members([
            "product": .id(product), "order": .id(order), "owned": .flag(isOwned),
            "expires": .instant(expires), "prepaid": .flag(isPrepaid),
            "will_renew": .flag(willRenew), "next_product": .id(nextProduct),
            "removed": .flag(isRemoved), "base_plan": .text(basePlan), "offer": offer?.payload,
            "price": price?.payload, "price_consent": priceConsent?.payload,
            "instalments": instalments?.payload,
            // Omitted for the most common value.
            "quantity": quantity == 1 ? nil : .integer(quantity),
            "refundable": .number(refundable), "consumed": .flag(isConsumed),
            "rented": .flag(isRented), "ordered_in_advance": .flag(isOrderedInAdvance),
            "released": .instant(releasedAt),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            try payload.id("product"), order: try payload.optionalID("order"),
            isOwned: try payload.flag("owned"), expires: try payload.optionalInstant("expires"))
        isPrepaid = try payload.flag("prepaid")
        willRenew = try payload.flag("will_renew")
        nextProduct = try payload.optionalID("next_product")
        isRemoved = try payload.flag("removed")
        basePlan = try payload.optionalText("base_plan")
        offer = try payload.optionalPart("offer")
        price = try payload.optionalPart("price")
        priceConsent = try payload.optionalPart("price_consent")
        instalments = try payload.optionalPart("instalments")
        quantity = try payload.optionalInteger("quantity") ?? 1
        refundable = try payload.optionalInteger("refundable")
        isConsumed = try payload.flag("consumed")
        isRented = try payload.flag("rented")
        isOrderedInAdvance = try payload.flag("ordered_in_advance")
        releasedAt = try payload.optionalInstant("released")
    }
}

extension Reading.Instalments: PayloadCodable {
    var payload: JSON {
        .members([
            "payments": .integer(payments), "left": .integer(paymentsLeft),
            "later": .number(laterPayments), "ends": .flag(endsWithCommitment),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            payments: try payload.integer("payments"), paymentsLeft: try payload.integer("left"),
            laterPayments: try payload.optionalInteger("later"),
            endsWithCommitment: try payload.flag("ends"))
    }
}

extension Reading.Return: PayloadCodable {
    var payload: JSON {
        .members([
            "token": .text(token), "account": .text(account), "profile": .text(profile),
            "linked_account": .text(linkedAccount),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            token: try payload.optionalText("token"), account: try payload.optionalText("account"),
            profile: try payload.optionalText("profile"),
            linkedAccount: try payload.optionalText("linked_account"))
    }
}

extension Reading.State: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("active", .active), ("grace", .grace), ("on_hold", .onHold), ("paused", .paused),
        ("cancelled", .cancelled), ("expired", .expired), ("purchased", .purchased),
        ("taken_back", .takenBack),
    ]

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}
