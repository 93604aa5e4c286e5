import Core
import JSON

extension TransactionFact: PayloadCodable {
    var payload: JSON {
        .members([
            "store": .string(store.rawValue), "environment": .string(environment.rawValue),
            "app": .id(app), "transaction": .id(transaction), "original": .id(original),
            "product": .id(product), "kind": .text(kind?.rawValue),
            "unknown_kind": unknownKind?.payload, "purchased": .instant(purchased),
            "originally_purchased": .instant(originallyPurchased), "expires": .instant(expires),
            "quantity": .integer(quantity), "revocation": revocation?.payload,
            "upgraded": .flag(isUpgraded), "offer": offer?.payload,
            "ownership": ownership.payload, "account_token": .text(accountToken),
            "app_transaction": .id(appTransaction),
            "price": price?.payload, "group": .text(group), "line_item": .text(lineItem),
            "previous_original": .id(previousOriginal),
            "commitment": commitment?.payload, "items": items.isEmpty ? nil : .parts(items),
            "refunded_quantity": .number(refundedQuantity), "reading": reading?.payload,
            "signed_at": .instant(signedAt),
            // The rank is only for people who read the log. The program derives the rank from the payload's name.
            "rank": .string(rank.word), "xcode": .flag(transaction.isOfXcode),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            store: try payload.word("store"), environment: try payload.word("environment"),
            app: try payload.id("app"), transaction: try payload.id("transaction"),
            original: try payload.id("original"), product: try payload.id("product"),
            purchased: try payload.instant("purchased"),
            signedAt: try payload.instant("signed_at"), rank: try Rank(payload))
        kind = try payload.optionalWord("kind")
        unknownKind = try payload.optionalPart("unknown_kind")
        originallyPurchased = try payload.optionalInstant("originally_purchased")
        expires = try payload.optionalInstant("expires")
        quantity = try payload.integer("quantity")
        revocation = try payload.optionalPart("revocation")
        isUpgraded = try payload.flag("upgraded")
        offer = try payload.optionalPart("offer")
        ownership = try payload.part("ownership")
        accountToken = try payload.optionalText("account_token")
        appTransaction = try payload.optionalID("app_transaction")
        price = try payload.optionalPart("price")
        group = try payload.optionalText("group")
        lineItem = try payload.optionalText("line_item")
        previousOriginal = try payload.optionalID("previous_original")
        commitment = try payload.optionalPart("commitment")
        items = try payload.parts("items")
        refundedQuantity = try payload.optionalInteger("refunded_quantity")
        reading = try payload.optionalPart("reading")
    }
}

extension RenewalFact: PayloadCodable {
    var payload: JSON {
        .members([
            "store": .string(store.rawValue), "environment": .string(environment.rawValue),
            "app": .id(app), "original": .id(original), "product": .id(product),
            "will_renew": .bool(willRenew), "next_product": .id(nextProduct),
            "in_billing_retry": .flag(isInBillingRetry), "paused": .flag(isPaused),
            "grace_until": .instant(graceUntil),
            "expiration_intent": expirationIntent?.payload,
            "price_consent": priceConsent?.payload, "renews_at": .instant(renewsAt),
            "offer": offer?.payload, "account_token": .text(accountToken),
            "will_commit_again": willCommitAgain.map(JSON.bool),
            "signed_at": .instant(signedAt), "rank": .string(rank.word),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            store: try payload.word("store"), environment: try payload.word("environment"),
            app: try payload.id("app"), original: try payload.id("original"),
            willRenew: try payload.flag("will_renew"),
            signedAt: try payload.instant("signed_at"), rank: try Rank(payload))
        product = try payload.optionalID("product")
        nextProduct = try payload.optionalID("next_product")
        isInBillingRetry = try payload.flag("in_billing_retry")
        isPaused = try payload.flag("paused")
        graceUntil = try payload.optionalInstant("grace_until")
        expirationIntent = try payload.optionalPart("expiration_intent")
        priceConsent = try payload.optionalPart("price_consent")
        renewsAt = try payload.optionalInstant("renews_at")
        offer = try payload.optionalPart("offer")
        accountToken = try payload.optionalText("account_token")
        willCommitAgain = try payload.optionalFlag("will_commit_again")
    }
}

extension AppFact: PayloadCodable {
    var payload: JSON {
        .members([
            "store": .string(store.rawValue), "environment": .string(environment.rawValue),
            "app": .id(app), "original_version": .string(originalVersion),
            "originally_purchased": .instant(originallyPurchased),
            "app_transaction": .id(appTransaction), "signed_at": .instant(signedAt),
            "rank": .string(rank.word),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            store: try payload.word("store"), environment: try payload.word("environment"),
            app: try payload.id("app"), originalVersion: try payload.text("original_version"),
            originallyPurchased: try payload.optionalInstant("originally_purchased"),
            signedAt: try payload.instant("signed_at"), rank: try Rank(payload))
        appTransaction = try payload.optionalID("app_transaction")
    }
}

extension SoldItem: PayloadCodable {
    var payload: JSON {
        .members(["product": .id(product), "revoked_at": .instant(revokedAt)])
    }

    init(_ payload: Payload) throws {
        self.init(
            try payload.id("product"), revokedAt: try payload.optionalInstant("revoked_at"))
    }
}

extension Commitment: PayloadCodable {
    var payload: JSON {
        .members([
            "period": .integer(period), "periods": .integer(periods), "ends": .instant(ends),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            period: try payload.integer("period"), periods: try payload.integer("periods"),
            ends: try payload.instant("ends"))
    }
}

extension Revocation: PayloadCodable {
    var payload: JSON {
        .members([
            "at": .instant(at), "reason": reason?.payload, "extent": extent?.payload,
            "milli_percent": .number(milliPercent),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(at: try payload.instant("at"))
        reason = try payload.optionalPart("reason")
        extent = try payload.optionalPart("extent")
        milliPercent = try payload.optionalInteger("milli_percent")
    }
}

extension Offer: PayloadCodable {
    var payload: JSON {
        .members([
            "kind": kind?.payload, "discount": discount?.payload,
            "identifier": .text(identifier), "period": .text(period),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            kind: try payload.optionalPart("kind"),
            discount: try payload.optionalPart("discount"))
        identifier = try payload.optionalText("identifier")
        period = try payload.optionalText("period")
    }
}

extension Price: PayloadCodable {
    var payload: JSON {
        .members(["milliunits": .integer(milliunits), "currency": .text(currency)])
    }

    init(_ payload: Payload) throws {
        self.init(
            milliunits: try payload.integer("milliunits"),
            currency: try payload.optionalText("currency"))
    }
}
