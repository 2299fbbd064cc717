"""Words of opposite meaning: where one text has a word and another its opposite, they differ."""

from __future__ import annotations

from itertools import permutations

from memory_palace.language.stemming import stem_word

_GROUPS = """
more / less fewer
| most maximum / least minimum
| large larger largest big bigger great greater huge / small smaller smallest little tiny
| high higher highest tall taller / low lower lowest
| long longer longest / short shorter shortest
| stronger strongest / weaker weakest
| increase rise rose grow grew gain raise expand lengthen
/ decrease fall fell shrink lose lost reduce drop shorten
| add / remove
| up upwards / down downwards
| towards toward / away
| front / back rear behind
| better best / worse worst
| young younger / old older
| much many / little few
| above over exceed / below under beneath
| before ahead / after afterwards behind
| earlier / later
| early / late
| first / last
| begin start / end stop finish
| better improve good / worse worsen bad
| faster quicker quick fast speed / slower slow
| hot hotter warm warmer heat / cold colder cool cooler freeze
| open / close shut
| always / never
| everybody everyone / nobody
| all / none
| allow permit / forbid prohibit ban
| accept / reject refuse decline
| inside inner inward inwards into / outside outer outward outwards out
| push / pull
| dry / wet moist
| full / empty
| heavy / light
| hard / soft
| cheap / expensive dear
| new fresh / old
| day / night
| win won / lose lost
| enable on / disable off
| commit / abort
| send sent / receive
| buy bought / sell sold
| public publish / private secret
| strong / weak
| thick wide / thin narrow
| near / far
| same equal / different new another
| alone / together
| present / absent missing
| harmless safe / harmful dangerous
| simple / complex
| necessary need require / unnecessary
| alive / dead
| succeed success / fail failure
| top upper / bottom lower
| arrive / leave depart
| encrypt hash / plain clear
| load / idle
| yes / no
| once / twice
| slowly / quickly
| known / unknown unclear unsolved
| forward forwards / backward backwards
| clockwise / anticlockwise counterclockwise
| left leftmost / right rightmost
| vertical upright / horizontal
| deep deeper / shallow
| tight tighten / loose loosen
| rough coarse / smooth fine
| sharp / blunt dull
| bright brighter / dark darker dim
| loud louder / quiet quieter silent
| calm / stormy rough
| rich / poor
| clean / dirty
| ripe / unripe
| raw / cooked boiled
| sweet / bitter sour
| fat / thin lean
| rare rarely seldom / common often frequently usual usually
| sometimes / never
| everywhere / nowhere
| everything / nothing
| somebody someone / nobody
| lengthen extend / shorten cut
| widen / narrow
| attach fasten tie / detach unfasten untie
| connect / disconnect
| lock / unlock
| load / unload
| cover / uncover
| build erect / demolish destroy
| create / delete destroy
| import / export
| input / output
| enter / exit leave
| find found / lose lost
| catch caught / throw threw
| float / sink sank
| rise ascend climb / descend sink
| melt thaw / freeze froze
| attract / repel
| gain profit surplus / loss deficit
| income revenue / expense cost
| credit / debit
| pay / owe
| praise / blame criticise
| agree agreed / disagree refuse
| confirm / deny denied
| include included including / exclude excluded excluding
| remember / forget forgot forgotten
| wake awake / sleep asleep
| born birth / die died death
| marry married / divorce divorced single
| war / peace
| winner / loser
| success / failure
| victory / defeat
| attack / defend
| guilty / innocent
| legal lawful / illegal unlawful forbidden
| true correct right / false wrong incorrect
| real genuine / fake false
| possible / impossible
| able / unable
| likely probable / unlikely improbable
| certain sure / uncertain unsure
| visible / invisible
| regular / irregular
| equal / unequal
| stable / unstable
| active / passive inactive idle
| fixed / variable movable
| permanent / temporary
| temporarily / permanently
| optional voluntary / mandatory compulsory obligatory required
| automatic automatically / manual manually
| local / remote
| internal / external
| domestic / foreign
| urban / rural
| natural / artificial
| sterile / contaminated
| healthy well / ill sick
| positive / negative
| odd / even
| single / double multiple
| unique / common
| major / minor
| senior / junior
| owner landlord / tenant lodger
| master primary leader / replica secondary follower
| server / client
| read / write wrote written
| encode / decode
| compress / decompress
| stretch / squeeze
| swell / shrink
| fill / drain empty
| straight / bent curved crooked
| flat / steep
| round / square
| coast shore / inland
| upstream / downstream
| uphill / downhill
| indoors inside / outdoors outside
| ground / air
| summit peak / foot base
| centre middle / edge rim
| surface / depth
| beginning start / ending finish
| previous preceding / next following subsequent
| former / latter
| ancient / modern
| past / future
| ascending increasing / descending decreasing
| majority / minority
| whole entire / partial part
| plus / minus
| multiply / divide
| sum / difference
| gentle gently / violent violently harsh
| careful / careless
| patient / impatient
| happy glad / sad unhappy
| love loved / hate hated
| easy / difficult hard
| useful / useless
| valuable / worthless
| dense / sparse
| opaque / transparent
| waterproof / permeable
| synchronous / asynchronous
| serial sequential / parallel
| allow permit let / forbid prevent block
| delay postpone / hasten
| accelerate / brake decelerate
| save / spend waste cost
| tie draw / win lose
| wild / tame
| male / female
| man men / woman women
| acid acidic / alkaline basic
"""
"""Two sides parted by a slash; what stands on one is opposed to all on the other."""

_SETS = """
january / february / march / april / june / july / august / september / october / november
/ december
| monday / tuesday / wednesday / thursday / friday / saturday / sunday
| spring / summer / autumn fall / winter
| red / blue / green / yellow / white / black / brown / grey gray / orange / purple violet / pink
| north northern / south southern / east eastern / west western
| dawn sunrise / noon midday / dusk sunset / midnight
| morning / afternoon / evening / night
| breakfast / lunch / dinner supper
| today / yesterday / tomorrow
| mother / father / uncle / aunt / brother / sister / son / daughter / grandfather / grandmother
| copper / zinc / iron / steel / lead / brass / silver / gold / aluminium / tin
| wood wooden / metal / plastic / stone / glass / paper / leather / rubber
| cotton / wool woollen / silk / linen / nylon
| arm / leg / thigh / shoulder / knee / hand / foot / neck / ear / eye
| finger / thumb / toe
| dog / cat / horse / cow / sheep / goat / pig
| chicken / duck / goose / turkey
| oak / pine / beech / birch / ash / maple / willow
| wheat / rye / barley / oats / maize / rice
| butter / oil / lard
| sugar / salt / pepper / honey
| beer / wine / milk / coffee / tea
| kitchen / cellar / attic / bathroom / bedroom / garage
| floor / ceiling / wall / roof
| door / window
| gas / diesel / petrol / electricity / coal
| doctor / nurse / pharmacist / dentist
| teacher / pupil student
| king / queen
| weekly / daily / monthly / yearly annually / hourly
| solid / liquid
| rain / snow / hail
| river / lake / sea / ocean
| french / german / english / spanish / italian / greek / latin / russian / chinese / japanese
| hydrogen / helium / oxygen / nitrogen / carbon
| violin / viola / cello / flute / oboe / clarinet / trumpet / horn / piano / harp
"""
"""Sets of which a thing is one or another; every word is opposed to all others of its set."""


def find_opposites(stem: str) -> frozenset[str]:
    """Return the stems of the opposites of a stemmed word; most words have none."""
    return _OPPOSITES.get(stem, frozenset())


def find_allies(stem: str) -> frozenset[str]:
    """Return the stems that stand on the same side as a stemmed word, itself included."""
    return _ALLIES.get(stem, frozenset({stem}))


def _read_groups() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    opposites: dict[str, set[str]] = {}
    allies: dict[str, set[str]] = {}
    for group in (*_GROUPS.split("|"), *_SETS.split("|")):
        sides = [
            {stem_word(form) for word in side.split() for form in _compare(word)}
            for side in group.split("/")
        ]
        for mine, theirs in permutations(sides, 2):
            for word in mine:
                opposites.setdefault(word, set()).update(theirs)
                allies.setdefault(word, set()).update(mine)
    return _freeze(opposites), _freeze(allies)


def _compare(word: str) -> tuple[str, ...]:
    """Return a word with what may be its comparative and superlative: sick, sicker, sickest."""
    base = word.removesuffix("e")
    base = f"{base[:-1]}i" if base.endswith("y") else base
    return word, f"{base}er", f"{base}est"


def _freeze(found: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {word: frozenset(words) for word, words in found.items()}


_OPPOSITES, _ALLIES = _read_groups()
