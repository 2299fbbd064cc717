"""The palace attacks itself: what would be forgotten is asked, judged, and made easier to find."""
