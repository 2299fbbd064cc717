"""The verbs that create and maintain a palace: index, status, doctor, init, models, config, serve.

The engine does the work (``Palace.index``, ``status``, ``doctor``, ``watch``); here are the
reports, the advice on a better model, and the next steps.
"""
