from setuptools import setup

setup(
    name="shop",
    version="0.1.0",
    packages=["shop"],
    package_dir={"": "lib"},
    install_requires=["iniconfig==2.0.0"],
    extras_require={"evals": ["tomli-w==1.0.0"]},
)
