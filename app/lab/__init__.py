"""The lab: what an instructor opens on the projector. One blueprint a file, one subject each."""
