"""Words by which a picture shows a factor of SMASHIN SCOPE. English; compared by their stems."""

from __future__ import annotations

from collections.abc import Mapping

from memory_palace.language.tokens import tokenize


def _stems(words: str) -> frozenset[str]:
    return frozenset(tokenize(words))


MOVEMENT = _stems(
    "bounce burst charge chase circle clap climb crash crawl creep crumble dance dive drag drift "
    "drip drop drum erupt explode fall fling flip float flood flow fly gallop glide grab grow hop "
    "hum hurl jump kick knock leap lift march melt pour pull push race rise roll run rush scatter "
    "shake shatter shoot shove sink sit skate skid slam slide smash snap spill spin splash spray "
    "sprint squeeze stagger stamp stomp storm stretch strike sway sweep swim swing swoop throw "
    "tip topple toss trample tremble tumble turn twirl twist unroll waltz wave whirl wobble "
    "wriggle yank"
)
SENSES: Mapping[str, frozenset[str]] = {
    "sound": _stems(
        "bang bark bell boom buzz chime clang clatter click cough crackle creak drum echo growl "
        "gong hear hiss hoot howl hum laugh loud music noise quack rattle ring roar rumble scream "
        "screech shout shriek sigh silence sing siren sizzle song sound squeak thud "
        "thunder whisper whistle"
    ),
    "smell": _stems(
        "aroma burnt cinnamon fragrant incense mouldy musty perfume pine reek scent smell smoke "
        "smoky sniff stench stink sulphur"
    ),
    "touch": _stems(
        "burn chill clammy cold damp feel freeze furry hairy hot icy itch prickle rough sandpaper "
        "sharp silky slimy slippery smooth soft sticky sting stroke tickle tingle touch velvet "
        "warm wet woolly"
    ),
    "taste": _stems(
        "bitter bite chew chocolate delicious flavour honey lemon lick mint peppery salty savoury "
        "sour spicy sugary sweet swallow taste vanilla vinegar"
    ),
}
"""Senses beyond sight."""
COLOR = _stems(
    "amber azure black blue bronze brown copper crimson cyan emerald fluorescent gold golden green "
    "grey indigo ivory khaki lavender lilac lime magenta maroon mauve neon ochre olive orange pink "
    "purple red ruby rust scarlet silver striped teal turquoise violet white yellow"
)
OVERSIZE = _stems(
    "colossal enormous giant gigantic huge immense mammoth massive microscopic monstrous oversized "
    "tiny titanic towering vast"
)
SIZED_AS = ("the size of", "as big as", "as large as", "as tall as", "as small as", "as high as")
POSITION = (
    "on top of", "at the foot of", "in the corner", "in front of", "to the left", "to the right",
    "next to", "in the middle of", "at the edge of",
)  # fmt: skip
PLACES = _stems(
    "above across against atop behind below beneath beside between inside onto opposite outside "
    "over through underneath upon corner"
)
EMOTION = _stems(
    "afraid amaze anger angry anxious ashamed astonish cry delight despair disgust dread ecstatic "
    "embarrass envy fear frighten furious fury gasp giggle grief grin happy hate horror horrify "
    "jealous joy laugh love nausea panic proud rage relief sad scare scream shame shock shudder "
    "sob startle surprise terrify terror thrill weep"
)
DIGITS = frozenset(tokenize("pair dozen score trio double triple twice thrice hundreds thousands"))
"""Words of quantity that are no number by themselves."""
