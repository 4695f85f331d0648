"""Which lines a printed statement shows, in order: (style, key, label)."""

from __future__ import annotations

from rge.invented.spec import Bank, Entity, Spec

Layout = tuple[tuple[str, str, str], ...]


def profit_layout(spec: Spec, entity: Entity | Bank, *, group: bool) -> Layout:
    """The statement of profit and loss."""
    owners: Layout = ()
    if group and entity.minority:
        owners = (
            ("head", "", "Attributable to"),
            ("item", "owners", f"Owners of {spec.name}"),
            ("item", "minority", "Non-controlling interests"),
        )
    if isinstance(entity, Bank):
        return _BANK_PROFIT + owners
    associates = (
        ("item", "associates", "Share of profit/(loss) of associates and joint ventures"),
    )
    return (
        ("item", "revenue", "Revenue from operations"),
        ("item", "other_income", "Other income"),
        ("sub", "total_income", "Total income"),
        ("head", "", "Expenses"),
        *(("item", cost.id, cost.label) for cost in entity.costs),
        ("item", "finance_costs", "Finance costs"),
        ("item", "depreciation", "Depreciation and amortisation expense"),
        ("item", "other_expenses", entity.other_label),
        ("sub", "total_expenses", "Total expenses"),
        ("sub", "before_exceptional", "Profit/(loss) before exceptional items and tax"),
        *(associates if group else ()),
        ("item", "exceptional", "Exceptional items"),
        ("sub", "pbt", "Profit/(loss) before tax"),
        ("item", "current_tax", "Current tax"),
        ("item", "deferred_tax", "Deferred tax"),
        ("total", "pat", "Profit/(loss) for the year"),
        ("item", "oci", "Other comprehensive income, net of tax"),
        ("total", "comprehensive", "Total comprehensive income"),
        *owners,
    )


_BANK_PROFIT: Layout = (
    ("head", "", "I. Income"),
    ("item", "interest_earned", "Interest earned"),
    ("item", "other_income", "Other income"),
    ("sub", "total_income", "Total income"),
    ("head", "", "II. Expenditure"),
    ("item", "interest_expended", "Interest expended"),
    ("item", "operating_expenses", "Operating expenses"),
    ("item", "provisions_charge", "Provisions and contingencies (other than tax)"),
    ("item", "tax", "Provision for tax"),
    ("sub", "total_expenditure", "Total expenditure"),
    ("head", "", "III. Profit"),
    ("total", "pat", "Net profit for the year"),
)


def balance_layout(entity: Entity | Bank, *, group: bool) -> Layout:
    """The balance sheet."""
    minority: Layout = ()
    if group and (entity.minority or entity.minority_equity):
        minority = (("item", "minority_equity", "Non-controlling interests"),)
    if isinstance(entity, Bank):
        return (
            ("head", "", "Capital and liabilities"),
            ("item", "share_capital", "Capital"),
            ("item", "other_equity", "Reserves and surplus"),
            *minority,
            ("item", "deposits", "Deposits"),
            ("item", "bank_borrowings", "Borrowings"),
            ("item", "other_liabilities", "Other liabilities and provisions"),
            ("total", "total_claims", "Total capital and liabilities"),
            ("head", "", "Assets"),
            ("item", "cash", "Cash and balances with the Reserve Bank and other banks"),
            ("item", "investments", "Investments"),
            ("item", "advances", "Advances"),
            ("item", "fixed_assets", "Fixed assets"),
            ("item", "other_assets", "Other assets"),
            ("total", "total_assets", "Total assets"),
        )
    held = (
        "Investments in associates and joint ventures"
        if group
        else "Investments in group companies"
    )
    return (
        ("head", "", "Non-current assets"),
        ("item", "ppe", "Property, plant and equipment (with work in progress)"),
        ("item", "intangibles", "Goodwill and other intangible assets"),
        ("item", "investments", held),
        ("item", "other_noncurrent", "Other non-current assets"),
        ("sub", "noncurrent_assets", "Total non-current assets"),
        ("head", "", "Current assets"),
        ("item", "inventories", "Inventories"),
        ("item", "receivables", "Trade receivables"),
        ("item", "current_investments", "Current investments and bank deposits"),
        ("item", "cash", "Cash and cash equivalents"),
        ("item", "other_current", "Other current assets"),
        ("sub", "current_assets", "Total current assets"),
        ("total", "total_assets", "Total assets"),
        ("head", "", "Equity"),
        ("item", "share_capital", "Equity share capital"),
        ("item", "other_equity", "Other equity"),
        *minority,
        ("sub", "total_equity", "Total equity"),
        ("head", "", "Non-current liabilities"),
        ("item", "long_borrowings", "Borrowings and lease liabilities"),
        ("item", "deferred_tax_liability", "Deferred tax liabilities (net)"),
        ("item", "provisions", "Provisions"),
        ("sub", "noncurrent_liabilities", "Total non-current liabilities"),
        ("head", "", "Current liabilities"),
        ("item", "short_borrowings", "Borrowings and lease liabilities"),
        ("item", "payables", "Trade payables"),
        ("item", "other_liabilities", "Other current liabilities"),
        ("sub", "current_liabilities", "Total current liabilities"),
        ("total", "total_claims", "Total equity and liabilities"),
    )


def cash_layout(entity: Entity | Bank) -> Layout:
    """The cash flow statement (indirect method)."""
    return _BANK_CASH if isinstance(entity, Bank) else _COMPANY_CASH


_COMPANY_CASH: Layout = (
    ("head", "", "A. Cash flow from operating activities"),
    ("item", "pbt_cf", "Profit/(loss) before tax"),
    ("item", "depreciation_cf", "Depreciation and amortisation expense"),
    ("item", "finance_cf", "Finance costs"),
    ("item", "income_cf", "Interest, dividend and other investment income"),
    ("item", "associates_cf", "Share of (profit)/loss of associates and joint ventures"),
    ("item", "exceptional_cf", "Exceptional items (non-cash)"),
    ("item", "share_payments_cf", "Share-based payments to employees"),
    ("sub", "before_working", "Operating profit before working capital changes"),
    ("item", "inventories_cf", "(Increase)/decrease in inventories"),
    ("item", "receivables_cf", "(Increase)/decrease in trade receivables"),
    ("item", "other_current_cf", "(Increase)/decrease in other current assets"),
    ("item", "payables_cf", "Increase/(decrease) in trade payables"),
    ("item", "other_liabilities_cf", "Increase/(decrease) in other current liabilities"),
    ("item", "provisions_cf", "Increase/(decrease) in provisions"),
    ("sub", "generated", "Cash generated from operations"),
    ("item", "tax_paid", "Income taxes paid"),
    ("total", "operating", "Net cash from/(used in) operating activities"),
    ("head", "", "B. Cash flow from investing activities"),
    ("item", "capex", "Purchase of property, plant, equipment and intangibles"),
    ("item", "acquired", "Investments in group companies and joint ventures"),
    ("item", "treasury", "Current investments and deposits (net)"),
    ("item", "income_received", "Interest, dividend and other income received"),
    ("total", "investing", "Net cash from/(used in) investing activities"),
    ("head", "", "C. Cash flow from financing activities"),
    ("item", "issued", "Equity shares issued/(bought back)"),
    ("item", "borrowed", "Proceeds from borrowings"),
    ("item", "repaid", "Repayment of borrowings and leases"),
    ("item", "interest_paid", "Finance costs paid"),
    ("item", "dividends_paid", "Dividends paid"),
    ("total", "financing", "Net cash from/(used in) financing activities"),
    ("sub", "net_change", "Net increase/(decrease) in cash and cash equivalents"),
    ("item", "opening_cash", "Cash and cash equivalents at the beginning of the year"),
    ("total", "closing_cash", "Cash and cash equivalents at the end of the year"),
)

_BANK_CASH: Layout = (
    ("head", "", "A. Cash flow from operating activities"),
    ("item", "pbt_cf", "Profit before tax"),
    ("item", "depreciation_cf", "Depreciation on fixed assets"),
    ("item", "provisions_cf", "Provisions and contingencies (other than tax)"),
    ("sub", "before_working", "Operating profit before changes in balances"),
    ("item", "advances_cf", "(Increase)/decrease in advances"),
    ("item", "investments_cf", "(Increase)/decrease in investments"),
    ("item", "other_assets_cf", "(Increase)/decrease in other assets"),
    ("item", "deposits_cf", "Increase/(decrease) in deposits"),
    ("item", "other_liabilities_cf", "Increase/(decrease) in other liabilities and provisions"),
    ("sub", "generated", "Cash generated from operations"),
    ("item", "tax_paid", "Direct taxes paid"),
    ("total", "operating", "Net cash from/(used in) operating activities"),
    ("head", "", "B. Cash flow from investing activities"),
    ("item", "capex", "Purchase of fixed assets"),
    ("total", "investing", "Net cash used in investing activities"),
    ("head", "", "C. Cash flow from financing activities"),
    ("item", "issued", "Proceeds from issue of equity shares"),
    ("item", "borrowed", "Borrowings (net)"),
    ("item", "dividends_paid", "Dividends paid"),
    ("total", "financing", "Net cash from/(used in) financing activities"),
    ("sub", "net_change", "Net increase/(decrease) in cash and cash equivalents"),
    ("item", "opening_cash", "Cash and cash equivalents at the beginning of the year"),
    ("total", "closing_cash", "Cash and cash equivalents at the end of the year"),
)
