"""English words by part of speech: closed classes whole, of verbs and adjectives the common ones.

What is listed nowhere counts as a noun. That is right far more often than not once the frequent
words are listed, and needs no model.
"""

from __future__ import annotations

from collections.abc import Iterator


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text that spaces divide."""
    return frozenset(text.split())


DETERMINERS = word_set("a an the my your his her its our their whose every each another")
"""Articles and the like, which no verb can follow."""

AUXILIARIES = word_set(
    """be am is are was were been being isn't aren't wasn't weren't i'm you're we're they're he's
    she's it's that's there's who's what's get gets got getting keep keeps kept"""
)
"""What a present participle follows: "was running" is no noun phrase."""

FUNCTION_WORDS = word_set(
    """whenever wherever amongst somewhat enough unsure outside inside whereas regarding
    this that
    these those some any no either neither both all several few many much more most less
    such what which i me mine myself you yours yourself yourselves he him himself she hers herself
    it itself we us ours ourselves they them theirs themselves who whom whoever whatever when
    where why how whether if because since unless until while though although as than so and or
    nor but yet for of in on at by to from with without within into onto upon about above below
    over under between among through throughout during before after against along around across
    behind beside besides beyond near off out up down toward towards via per despite except like
    unlike versus vs etc do does did doing done don't doesn't didn't have has had having haven't
    hasn't hadn't i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll
    she'll we'll they'll it'll that'll can could will would shall should may might must ought
    can't cannot couldn't won't wouldn't shouldn't mustn't needn't let let's not never also too
    very quite rather really just only even still already almost always often sometimes usually
    ever again once twice here there then now soon later ago away back together apart else instead
    maybe perhaps however therefore thus hence otherwise anyway indeed anymore everywhere
    somewhere anywhere nowhere well yes yeah yep yup no nope ok okay oh wow hey hi hello hmm haha
    lol please thanks thank welcome sure sorry cool great awesome bye congrats something anything
    nothing everything someone anyone everyone somebody anybody everybody nobody none one ones
    other others same own lot lots bit kind kinds sort sorts type types thing things stuff way
    ways today tomorrow yesterday tonight day days night nights morning mornings afternoon evening
    week weeks weekend weekends month months year years hour hours minute minutes second seconds
    moment while time times date dates monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays january february april june
    july august september october november december two three four five six seven eight nine ten
    eleven twelve hundred thousand million e.g i.e eg ie cf am pm http https www much many able
    due according including half couple least less far long first last next"""
)

ADVERBS_IN_OTHER_SHAPES = word_set("forward forwards backward ahead abroad aside aloud")
NOT_ADVERBS = word_set(
    """family families italy july reply supply assembly belly jelly lily butterfly anomaly monopoly
    ally rally bully ally fly apply rely multiply imply comply friendly lovely lonely lively silly
    ugly early daily weekly monthly yearly elderly costly deadly likely unlikely only homely holy
    poly emily kelly sally molly billy polly lilly carly hillary homily doily folly gully jolly
    woolly curly burly wobbly bubbly smelly hourly orderly scholarly cowardly worldly"""
)

ADJECTIVES = word_set(
    """able active actual afraid alive alone amazing ancient angry anxious available aware awful
    awesome bad basic beautiful best better big bigger biggest black blue bold bored boring brave
    brief bright brilliant broad broken brown busy calm careful cheap clean clear clever close
    cold comfortable common complete complex concerned confident conscious constant cool correct
    costly crazy creative creepy critical crucial curious current cute daily damp dark dead deadly
    dear deep delicious dense detailed different difficult digital dirty distant dry early eager
    easy elderly electric emotional empty enormous entire environmental equal essential evergreen
    exact excellent excited exciting expensive extra extreme fair faithful false familiar famous
    fantastic fast favorite favourite final financial fine first flat formal former free frequent
    fresh friendly full fun funny future general gentle glad global golden good gorgeous grateful
    gray great green grey guilty happy hard hardest healthy heavy helpful hidden high higher
    highest historical holy honest hot huge human hungry ideal ill immediate important impossible
    incredible independent individual informal initial inner innocent inspiring intense interested
    interesting internal international joint junior keen key kind large larger largest last late
    latest lazy least left legal light likely little lively local logical lonely long longer lost
    loud lovely low lower lucky mad main major many massive meaningful medical memorable mental
    mere mild minor missing mobile modern monthly moral multiple mutual narrow nasty national
    natural neat necessary negative nervous new newer newest next nice normal nostalgic obvious
    odd official old older oldest online open orange ordinary original other outdoor overall own
    particular past patient peaceful perfect permanent personal physical pink plain pleasant poor
    popular portable positive possible potential powerful practical precious precise present
    pretty previous primary prior private professional proper proud public pure purple quick quiet
    random rare raw ready real recent red regular related relaxed relaxing relevant reliable
    remote rich right romantic rough round rude rural sad safe same satisfied scared scary secret
    senior sensitive separate serious shared sharp short shy sick significant silent silly similar
    simple single slight slow small smaller smart smooth social soft solid special specific spicy
    spiritual stable standard steady straight strange strict strong stupid subtle successful
    sudden suitable super supportive sure surprised sweet tall temporary terrible thankful thick
    thin tight tiny tired tough traditional tricky true typical ugly unique unlikely unusual
    upcoming upset urban useful usual valuable various vast virtual visible visual vital warm weak
    wealthy weekly weird welcome wet white whole wide wild willing wise wonderful wooden wrong
    yearly yellow young younger youngest academic aesthetic additional adorable alternative
    automatic careless charming chronic civil classic cognitive collective colorful commercial
    communal complicated computational concrete contemporary conventional cultural decentralized
    delightful dependent direct dynamic economic educational effective efficient elegant ethical
    existing explicit external fascinating fictional functional fundamental genuine harmful
    hopeful implicit inclusive infinite intellectual intelligent intentional interactive intrinsic
    invisible large-scale literal linguistic lexical magical mathematical mechanical metaphorical
    motivated musical mysterious naive nearby noisy numerous objective ongoing optimal organic
    outstanding passionate philosophical playful political productive psychological quantum
    rational realistic recurring refreshing remarkable respective ridiculous rigid robust
    scientific semantic sexual sincere socioeconomic sophisticated stressful stunning subjective
    sufficient sustainable technical technological theoretical therapeutic tremendous underlying
    universal unlimited unknown unexpected vibrant vulnerable welcoming western eastern northern
    southern worth"""
)

VAGUE = word_set(
    """example examples fact idea ideas reason reasons case cases part parts number amount point
    points end start side place places people person man woman guy guys everyone anyone rest top
    use thought thoughts feeling feelings deal matter sense stage question questions answer look
    luck hope name names word words talk call chance fun piece set group pic pics pleasure
    something level order bunch tons ton plenty variety"""
)
"""Nouns that alone say nothing of what a text is about."""

_REGULAR_VERBS = """accept achieve act add adopt admire admit advise agree aim allow amaze announce
appear apply appreciate approach argue arrange arrive ask assume attempt attend attract avoid bake
balance bear believe belong bloom boost borrow bother bounce breathe browse call capture care carry
cause celebrate challenge change chat check cheer chill choose claim clean clear climb close collect
come compare complain complete concern connect consider contain continue contribute cook cope copy
count cover create cry cuddle decide declare define delete deliver deny depend describe deserve
determine develop die disagree disappear discover discuss divide donate download dream drop earn
embrace emerge empower encourage end engage enjoy ensure enter establish examine exist expand expect
experience explain explore express face fail fetch figure fill finish fix focus follow force gather
generate govern grab graduate guess handle happen hate heal help hike hope hug ignore imagine
implement imply improve include increase indicate inspire install intend introduce invite involve
join jump kick kiss laugh launch lead lean learn let lift like listen live look love maintain manage
mean meditate mention mind miss motivate move need notice observe obtain occur offer open operate
order organize own paint participate pass pause perform persuade pick plan play prefer prepare
present preserve prevent produce promise propose protect prove provide publish pull pursue push rain
raise reach react realize realise recall receive reckon recognize recommend record recover reduce
refer reflect refuse relate relax release rely remain remember remind remove rent repeat replace
reply report represent require resolve respond retire return reveal review save search seem serve
settle share shift shop show sign skip smile solve sound stare start stay step stop stretch struggle
study succeed suffer suggest support suppose surprise surround survive talk tend test thank total
touch train transform travel treat trust try turn understand upgrade use visit volunteer vote wait
walk want warn wash watch wear whisper wish wonder work worry affect allow appear behave bike camp
chase combine commit communicate concentrate confirm consist construct convince cooperate crave
dedicate demand differ display ease emphasize enable enhance evaluate evolve exceed exchange exclude
facilitate favor fear gain hang host identify influence inform inherit insist integrate interact
interpret kayak label last lack matter measure mix name nominate note overcome pack persist
possess post practise practice process quit rank relive render resemble restore reward
satisfy seek separate ship sketch spark spread state stick store submit surf switch tackle taste
thrive tie treasure update utilize value wander welcome yell zoom ruin adore detest dislike loathe
appreciate despise drink catch born"""

_IRREGULAR_VERBS = word_set(
    """began begun become became bought brought built broke broken came caught chose chosen cost cut
    dealt drew drawn drank drove driven ate eaten eat eats eating fell fallen felt fight fought
    found find finds finding flew flown forgot forgotten forget forgets forgetting forgave gave
    given give gives giving go goes going went gone gonna wanna gotta grew grown grow grows
    growing heard hear hears hearing held hold holds holding hid kept knew known know knows
    knowing laid led left leave leaves leaving lent lost lose loses losing made make makes making
    meant met meet meets meeting paid pay pays paying put puts putting ran run runs running read
    reads rose risen said say says saying saw seen see sees seeing sold sell sells sent send sends
    sending set sets setting shook shone shot showed shown sang sung sat sit sits sitting slept
    spoke spoken speak speaks speaking spent spend spends spending stood stand stands standing
    stole stuck swam swum swim swims took taken take takes taking taught teach teaches teaching
    told tell tells telling thought think thinks thinking threw thrown throw throws understood
    woke won win wins winning wore worn wrote written write writes writing bring brings bringing
    buy buys buying build builds building begin begins beginning break breaks breaking become
    becomes becoming feel feels feeling fall falls falling draw draws ride rides rode ridden rise
    rises sing sings sleep sleeps wake wakes won't hit hits hurt hurts lets lying lie lies"""
)


def _inflect(verb: str) -> Iterator[str]:
    yield verb
    if verb.endswith("e"):
        yield from (verb + "s", verb + "d", verb[:-1] + "ing")
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        yield from (verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing")
    elif verb.endswith(("s", "sh", "ch", "x", "z")):
        yield from (verb + "es", verb + "ed", verb + "ing")
    else:
        yield from (verb + "s", verb + "ed", verb + "ing")
        yield from (verb + verb[-1] + "ed", verb + verb[-1] + "ing")


GERUNDS = word_set(
    """hiking camping cooking running swimming reading writing painting training dancing baking
    singing gardening shopping climbing biking kayaking surfing testing building meeting drawing
    learning teaching setting beginning ending recording fishing knitting parenting volunteering
    programming engineering feeling planning"""
)
"""Forms of verbs that more often name an activity."""

_ALL_FORMS = frozenset(form for verb in _REGULAR_VERBS.split() for form in _inflect(verb))
VERBS = (_ALL_FORMS | _IRREGULAR_VERBS) - GERUNDS
"""Every form of the common verbs, but for those gerunds."""

MODIFYING_PARTICIPLES = word_set("broken lost known given written shared chosen frozen")
"""Participles that stand before nouns as adjectives do."""
