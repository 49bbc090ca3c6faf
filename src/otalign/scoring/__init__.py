"""From word vectors to scores of links and nulls."""
